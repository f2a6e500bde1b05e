import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is used of rate limits and concurrency limits, for the administration. */
export class UsedRates1763837000001 implements MigrationInterface {
  readonly name = 'UsedRates1763837000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(USED_RATES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION used_rates');
  }
}

/**
 * Windows and leases are tables of all tenants, which no tenant may read. This reads sums out of them, by ids of rules: whoever
 * knows an id has read the rule, and no id can be guessed. `rates` is a list of `id` and `window` (milliseconds; 0 for concurrency). A
 * mark that is no number counts nothing; the next request starts such a window anew.
 */
const USED_RATES = `
  CREATE FUNCTION used_rates(rates jsonb) RETURNS TABLE (id text, used bigint)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT rate.id, CASE WHEN rate."window" > 0 THEN (
        SELECT coalesce(sum(CASE
          WHEN mark.key !~ '^[0-9]{1,18}$' OR mark.value !~ '^-?[0-9]{1,18}$' THEN 0
          WHEN mark.key::bigint BETWEEN clock.step - 99 AND clock.step + 100 THEN mark.value::bigint
          ELSE 0 END), 0)
        FROM limit_windows AS counted, jsonb_each_text(counted.marks) AS mark
        WHERE counted.key = rate.id AND jsonb_typeof(counted.marks) = 'object'
      ) ELSE (
        SELECT coalesce(sum(lease.amount), 0) FROM limit_leases AS lease
        WHERE lease.counter = rate.id AND lease.expires_at > clock_timestamp()
      ) END::bigint
    FROM jsonb_to_recordset(rates) AS rate (id text, "window" bigint),
      LATERAL (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
        / greatest(rate."window" / 100, 1) AS step) AS clock
  $$`;
