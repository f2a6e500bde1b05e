import type { PoolClient } from 'pg';
import type { AttemptRecord, Charge } from '../../contracts/request-log.js';
import type { LogRow } from '../request-log/log-row.js';

/** A charge with what the attempt really cost, which may have been counted after the process had settled. */
interface ChargeRow extends Pick<Charge, 'counter' | 'holder' | 'leased'> {
  readonly amount: number;
}

/** Adds what stored attempts cost to the counters that they name. To be called in the transaction that stores them. */
export async function chargeLimits(
  client: Pick<PoolClient, 'query'>,
  rows: readonly LogRow[],
): Promise<void> {
  const charges = rows.flatMap(({ record }) => record.attempts.flatMap(chargesOf));
  if (charges.length > 0) await client.query('SELECT charge_limits($1)', [JSON.stringify(charges)]);
}

function chargesOf(attempt: AttemptRecord): ChargeRow[] {
  return (attempt.charges ?? []).map(({ counter, holder, leased, measure }) => ({
    counter,
    holder,
    leased,
    amount: measure === 'cost' ? (attempt.cost_nano_usd ?? 0) : tokensOf(attempt),
  }));
}

function tokensOf({ usage }: AttemptRecord): number {
  return usage ? usage.input_tokens + usage.output_tokens : 0;
}
