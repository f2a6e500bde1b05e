import type { ClickHouseClient } from '@clickhouse/client';
import { CHANGES, type Ddl } from './ddl.js';
import { ROLLUP_VIEWS } from './rollup-tables.js';

/** Changes a release makes to existing tables. */
export interface TableChange {
  /** From 1 upwards. A number is never reused, even if its change is dropped. */
  readonly version: number;
  readonly name: string;
  /**
   * Each statement is a no-op when it has already run, or when this release created the table: two processes may run it at once, and the
   * next process finishes the work of one that dies. Columns are spelled out as they were at that time, not taken from the current tables.
   */
  readonly statements: (ddl: Ddl) => readonly string[];
}

/**
 * Since 0.1.0, whose tables are in test/clickhouse/schema-0.1.0.sql. Released changes are never removed. Views are replaced by their current
 * form, so only the latest change of views has these statements, after the columns that they read; an earlier one keeps its number.
 */
const TABLE_CHANGES: readonly TableChange[] = [
  {
    version: 1,
    name: 'labels of long values',
    statements: () => [],
  },
  {
    version: 2,
    name: 'refusals and crashes of the gateway',
    statements: (ddl) => [
      ...['usage', 'usage_slice'].flatMap((family) =>
        ['minute', 'hour', 'day'].flatMap((granularity) =>
          ddl.addColumns(`${family}_${granularity}`, [
            ['refusals', 'SimpleAggregateFunction(sum, Int64)'],
            ['crashes', 'SimpleAggregateFunction(sum, Int64)'],
            ['refused_statuses', 'SimpleAggregateFunction(sumMap, Map(Int32, Int64))'],
          ]),
        ),
      ),
      // A view can be created only when its table has the columns.
      ...ROLLUP_VIEWS.map((view) => ddl.view(view)),
      ...ROLLUP_VIEWS.map((view) => ddl.replaceView(view)),
    ],
  },
];

/** Makes the outstanding changes in order. Changes of a newer release are left alone. */
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
