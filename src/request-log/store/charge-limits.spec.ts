import { describe, expect, it } from 'vitest';
import type { AttemptRecord, Charge } from '../record.js';
import type { NewLogRow } from './log-row.js';
import { chargesOf } from './charge-limits.js';

const charge = (counter: string, wishes: Partial<Charge> = {}): Charge => ({
  counter,
  holder: 'one',
  measure: 'cost',
  leased: 10,
  ...wishes,
});
const row = (...attempts: readonly Partial<AttemptRecord>[]): NewLogRow =>
  ({ record: { attempts } }) as unknown as NewLogRow;
const usage = { input_tokens: 3, output_tokens: 4 };

describe('what a batch charges', () => {
  it('is summed up for each counter and process', () => {
    const rows = [
      row({ cost_nano_usd: 7, usage, charges: [charge('a'), charge('b', { measure: 'tokens' })] }),
      row({ cost_nano_usd: 5, charges: [charge('a')] }, { cost_nano_usd: 1, charges: [charge('a')] }),
      row({ cost_nano_usd: 2, charges: [charge('a', { holder: 'other' })] }),
      row({ cost_nano_usd: 100 }),
    ];

    expect(chargesOf(rows)).toEqual([
      { counter: 'a', holder: 'one', leased: 30, amount: 13 },
      { counter: 'b', holder: 'one', leased: 10, amount: 7 },
      { counter: 'a', holder: 'other', leased: 10, amount: 2 },
    ]);
  });

  it('is exact where a sum is more than a number holds', () => {
    const most = Number.MAX_SAFE_INTEGER;
    const rows = [most, 1, 5].map((cost) =>
      row({ cost_nano_usd: cost, charges: [charge('a', { leased: cost })] }),
    );

    expect(chargesOf(rows)).toEqual([
      { counter: 'a', holder: 'one', leased: most, amount: most },
      { counter: 'a', holder: 'one', leased: 6, amount: 6 },
    ]);
  });
});
