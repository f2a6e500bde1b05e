/** A connection, or a pool, of `pg`. */
interface Database {
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
}

/** Returns what a dead process held of all limits. Only after its last record was stored: until then, it may have spent it. */
export async function endLeases(database: Database, holder: string): Promise<void> {
  await database.query('DELETE FROM limit_leases WHERE holder = $1', [holder]);
}

const IDLE_WINDOWS = `DELETE FROM limit_windows WHERE used_at < now() - interval '8 days'`;
/** A process renews its leases of budgets when a fifth of their hour is over, so one that has less than this left is silent. */
const SILENT = "interval '30 minutes'";

/**
 * What a machine that was lost with its spool held of budgets counts as spent for as long as the period lasts: without the spool
 * there is no telling what of it was sent, and the provider charges for that. A process that was only cut off goes on where it was, and
 * a spool that is found again ends its leases as any other does. Slots are free: nothing of them was spent.
 */
const KEEP_LOST = `
  UPDATE limit_leases l SET expires_at = 'infinity' FROM limit_counters c
  WHERE c.key = l.counter AND c.measure <> 'concurrency' AND l.amount > 0
    AND l.expires_at < clock_timestamp() + ${SILENT}`;
/** Of slots, of what is empty, and of counters that are gone. */
const ENDED_LEASES = `
  DELETE FROM limit_leases l WHERE l.amount = 0 AND (l.expires_at < now() OR l.expires_at = 'infinity')
    OR l.expires_at < now() - interval '1 day'
    OR l.expires_at = 'infinity' AND NOT EXISTS (SELECT 1 FROM limit_counters c WHERE c.key = l.counter)`;

const COUNTERS_AT_ONCE = 1_000;
/** Of one sweep. What is left comes with the next. */
const MOST_ROUNDS = 20;

/**
 * Counters of periods that are over for certain: a period lasts 365 days at most, and late charges and clocks that jump
 * are given a month. When it began stands at the end of its key (`counterKey`); a budget without a reset has no such
 * ending, and its counter stays indefinitely. Whose row is in use is left to the next sweep.
 */
const ENDED_COUNTERS = `
  DELETE FROM limit_counters WHERE key IN (
    SELECT key FROM limit_counters
    WHERE substring(key FROM '@([0-9]{1,12})$')::bigint < extract(epoch FROM now() - interval '400 days')
    LIMIT ${COUNTERS_AT_ONCE} FOR UPDATE SKIP LOCKED
  )`;

/** Removes what no process will look at again. */
export async function sweepLimits(database: Database): Promise<void> {
  await database.query(IDLE_WINDOWS);
  await database.query(KEEP_LOST);
  await database.query(ENDED_LEASES);
  for (let round = 0; round < MOST_ROUNDS; round += 1)
    if ((await removedCounters(database)) < COUNTERS_AT_ONCE) return;
}

/** `pg` answers with the count beside the rows. */
async function removedCounters(database: Database): Promise<number> {
  const { rowCount } = (await database.query(ENDED_COUNTERS)) as { readonly rowCount: number | null };
  return rowCount ?? 0;
}
