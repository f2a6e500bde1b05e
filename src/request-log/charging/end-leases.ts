/** A connection or pool of `pg`. */
interface LeaseDatabase {
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
}

/** Returns what a dead process held of all limits. Call only after its last record was stored: until then it may have been spent. */
export async function endLeases(database: LeaseDatabase, holder: string): Promise<void> {
  await database.query('DELETE FROM limit_leases WHERE holder = $1', [holder]);
}

const IDLE_WINDOWS = `DELETE FROM limit_windows WHERE used_at < now() - interval '8 days'`;
/** A process renews its budget leases after a fifth of their hour, so a holder with less than this left is silent. */
const SILENT = "interval '30 minutes'";

/**
 * What a machine that was lost with its spool held of budgets counts as spent until the period ends: without the spool it is unknown what
 * was sent, and the provider charges for that. A process that was only cut off resumes its leases, and a recovered spool ends its leases as
 * usual. Slots are released: nothing of them was spent.
 */
const KEEP_LOST = `
  UPDATE limit_leases l SET expires_at = 'infinity' FROM limit_counters c
  WHERE c.key = l.counter AND c.measure <> 'concurrency' AND l.amount > 0
    AND l.expires_at < clock_timestamp() + ${SILENT}`;
/** Leases of slots, empty leases, and leases of removed counters. */
const ENDED_LEASES = `
  DELETE FROM limit_leases l WHERE l.amount = 0 AND (l.expires_at < now() OR l.expires_at = 'infinity')
    OR l.expires_at < now() - interval '1 day'
    OR l.expires_at = 'infinity' AND NOT EXISTS (SELECT 1 FROM limit_counters c WHERE c.key = l.counter)`;

const COUNTERS_AT_ONCE = 1_000;
/** Per sweep. The next sweep continues. */
const MOST_ROUNDS = 20;

/**
 * Counters of periods that have certainly ended: a period lasts 365 days at most, and a month is added for late charges and clock changes.
 * The start of the period ends the key (`counterKey`); a budget without a reset has no such ending, and its counter is kept indefinitely.
 * Rows in use are left to the next sweep.
 */
const ENDED_COUNTERS = `
  DELETE FROM limit_counters WHERE key IN (
    SELECT key FROM limit_counters
    WHERE substring(key FROM '@([0-9]{1,12})$')::bigint < extract(epoch FROM now() - interval '400 days')
    LIMIT ${COUNTERS_AT_ONCE} FOR UPDATE SKIP LOCKED
  )`;

/** Removes rows that no process reads any more. */
export async function sweepLimits(database: LeaseDatabase): Promise<void> {
  await database.query(IDLE_WINDOWS);
  await database.query(KEEP_LOST);
  await database.query(ENDED_LEASES);
  for (let round = 0; round < MOST_ROUNDS; round += 1)
    if ((await removedCounters(database)) < COUNTERS_AT_ONCE) return;
}

/** `pg` returns the count beside the rows. */
async function removedCounters(database: LeaseDatabase): Promise<number> {
  const { rowCount } = (await database.query(ENDED_COUNTERS)) as { readonly rowCount: number | null };
  return rowCount ?? 0;
}
