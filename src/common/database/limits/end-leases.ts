/** Anything that runs a statement whose answer nobody reads. */
interface Database {
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
}

/** Returns what a dead process held of all limits. Only after its last record was stored: until then, it may have spent it. */
export async function endLeases(database: Database, holder: string): Promise<void> {
  await database.query('DELETE FROM limit_leases WHERE holder = $1', [holder]);
}

const IDLE_WINDOWS = `DELETE FROM limit_windows WHERE used_at < now() - interval '8 days'`;
const ENDED_LEASES = `
  DELETE FROM limit_leases WHERE amount = 0 AND expires_at < now() OR expires_at < now() - interval '1 day'`;

/** Removes what no process will look at again. */
export async function sweepLimits(database: Database): Promise<void> {
  await database.query(IDLE_WINDOWS);
  await database.query(ENDED_LEASES);
}
