import { describe, expect, it } from 'vitest';
import { RefusedCredentials } from './refused-credentials.js';

describe('refused credentials', () => {
  it('are all counted, and logged once in 30 seconds for each reason with the number since the last line', () => {
    const lines: unknown[] = [];
    let now = 0;
    const refused = new RefusedCredentials({ warn: (line: unknown) => void lines.push(line) }, () => now);

    for (now = 0; now <= 30_000; now += 1_000) refused.count('unknown', '192.0.2.1');
    refused.count('missing', '192.0.2.2');

    expect(refused.countOf('unknown')).toBe(31);
    expect(lines).toEqual([
      { reason: 'unknown', address: '192.0.2.1', since_last: 1 },
      { reason: 'unknown', address: '192.0.2.1', since_last: 30 },
      { reason: 'missing', address: '192.0.2.2', since_last: 1 },
    ]);
  });
});
