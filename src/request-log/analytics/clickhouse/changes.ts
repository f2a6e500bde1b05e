import type { ClickHouseClient } from '@clickhouse/client';
import { CHANGES, type Ddl } from './ddl.js';

/** What a release changes of tables that exist. */
export interface TableChange {
  /** From 1 upwards. Never given to another change, whatever becomes of this one. */
  readonly version: number;
  readonly name: string;
  /**
   * Each statement changes nothing when it was run before, or when this release created the table: two processes may run it
   * at once, and a process that dies in between leaves the rest to the next. The columns are written here as they were
   * then, and not taken from the tables as they are now.
   */
  readonly statements: (ddl: Ddl) => readonly string[];
}

/** Since 0.1.0, whose tables are in test/clickhouse/schema-0.1.0.sql. Released changes are kept for ever. */
const TABLE_CHANGES: readonly TableChange[] = [];

/** Makes the changes that were not made, in their order. Changes of a newer release are left alone. */
export async function makeChanges(
  client: ClickHouseClient,
  ddl: Ddl,
  changes: readonly TableChange[] = TABLE_CHANGES,
): Promise<void> {
  await client.command({ query: ddl.createChanges() });
  const answer = await client.query({ query: `SELECT version FROM ${CHANGES}`, format: 'JSONEachRow' });
  const made = new Set((await answer.json<{ version: number }>()).map(({ version }) => version));
  for (const { version, name, statements } of changes) {
    if (made.has(version)) continue;
    for (const query of statements(ddl)) await client.command({ query });
    await client.insert({ table: CHANGES, values: [{ version, name }], format: 'JSONEachRow' });
  }
}
