import type { PoolClient } from 'pg';
import type { AttemptRecord, Charge } from '../record.js';
import type { NewLogRow } from './log-row.js';

/** The charge of a batch to one counter: what its attempts actually cost, which may have been counted after the process settled. */
interface BatchChargeRow extends Pick<Charge, 'counter' | 'holder'> {
  leased: number;
  amount: number;
}

/** Adds the cost of stored attempts to the counters that they name. Call it in the transaction that stores them. */
export async function chargeLimits(
  client: Pick<PoolClient, 'query'>,
  rows: readonly NewLogRow[],
): Promise<void> {
  const charges = chargesOf(rows);
  if (charges.length > 0) await client.query('SELECT charge_limits($1)', [JSON.stringify(charges)]);
}

/** Summed here: while the database reads the list, gateway processes wait for the counters. */
export function chargesOf(rows: readonly NewLogRow[]): readonly BatchChargeRow[] {
  const sums = new Map<string, BatchChargeRow>();
  const full: BatchChargeRow[] = [];
  for (const { record } of rows)
    for (const charge of record.attempts.flatMap(chargesOfAttempt)) {
      const name = `${charge.holder} ${charge.counter}`;
      const sum = sums.get(name);
      if (sum && add(sum, charge)) continue;
      if (sum) full.push(sum);
      sums.set(name, charge);
    }
  return [...full, ...sums.values()];
}

function chargesOfAttempt(attempt: AttemptRecord): BatchChargeRow[] {
  return (attempt.charges ?? []).map(({ counter, holder, leased, measure }) => ({
    counter,
    holder,
    leased,
    amount: measure === 'cost' ? (attempt.cost_nano_usd ?? 0) : tokensOf(attempt),
  }));
}

/** False when the sum would exceed exact numbers; it continues in another row. */
function add(sum: BatchChargeRow, { leased, amount }: BatchChargeRow): boolean {
  if (!Number.isSafeInteger(sum.leased + leased) || !Number.isSafeInteger(sum.amount + amount)) return false;
  sum.leased += leased;
  sum.amount += amount;
  return true;
}

function tokensOf({ usage }: AttemptRecord): number {
  return usage ? usage.input_tokens + usage.output_tokens : 0;
}
