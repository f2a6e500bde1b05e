import { describe, expect, it } from 'vitest';
import { reportSparsely } from './report-sparsely.js';

describe('reportSparsely', () => {
  it('writes one line in 30 seconds for each message, with the failure in it', () => {
    const lines: unknown[][] = [];
    let now = 0;
    const failure = new Error('refused');
    const report = reportSparsely({ warn: (...line: unknown[]) => void lines.push(line) }, () => now);

    for (now = 0; now < 60_000; now += 1_000) {
      report('the queue is away', failure);
      if (now === 1_000) report('something else', failure);
    }

    expect(lines).toEqual([
      [{ err: failure }, 'the queue is away'],
      [{ err: failure }, 'something else'],
      [{ err: failure }, 'the queue is away'],
    ]);
  });
});
