import type { Client } from 'pg';
import { LauncherError } from '../launcher-error.js';

/** A table that exists while a restore is unfinished. No start uses such a database. */
export const RESTORE_MARK = 'restore_in_progress';

export async function isBeingRestored(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
    RESTORE_MARK,
  ]);
  return rows[0]?.exists === true;
}

export async function markRestore(client: Client, backup: string): Promise<void> {
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${RESTORE_MARK} (backup text NOT NULL, started_at timestamptz NOT NULL)`,
  );
  await client.query(`INSERT INTO ${RESTORE_MARK} VALUES ($1, now())`, [backup]);
}

export async function unmarkRestore(client: Client): Promise<void> {
  await client.query(`DROP TABLE ${RESTORE_MARK}`);
}

/** Rejects for a database whose restore was interrupted. */
export async function refuseUnfinishedRestore(client: Client): Promise<void> {
  if (await isBeingRestored(client))
    throw new LauncherError(
      'The database holds an unfinished restore, so its data is incomplete. Run "gatehouse restore" again: it starts over (docs/backup.md).',
    );
}
