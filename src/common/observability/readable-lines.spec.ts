import { describe, expect, it } from 'vitest';
import { readableLine } from './readable-lines.js';

const line = (fields: object): string =>
  readableLine(JSON.stringify({ level: 'warn', time: '2030-01-02T03:04:05.006Z', pid: 1, ...fields }));

describe('readableLine', () => {
  it('shows time, level, component, message and fields in one line', () => {
    expect(line({ component: 'launcher', port: 8787, how: 'code 1', msg: 'A process ended.' })).toMatch(
      /^\d\d:\d\d:05\.006 WARN {2}launcher {7}A process ended\. port=8787 how=code 1\n$/,
    );
  });

  it('shows the stack of a failure below the line', () => {
    expect(
      line({ msg: 'It failed.', err: { message: 'no route', stack: 'Error: no route\n    at x.ts:1' } }),
    ).toMatch(/It failed\.\n {4}Error: no route\n {4}at x\.ts:1\n$/);
  });

  it.each([
    ['a line break', 'a\nb'],
    ['a terminal command', '\u001b[31mred'],
    ['a C1 command', '\u009b2J'],
    ['a line separator', 'a\u2028b'],
  ])('escapes %s in messages, fields and names', (_, hostile) => {
    const shown = line({ msg: hostile, field: hostile, [hostile]: 1, list: [hostile] });

    expect(shown.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028]/);
  });
});
