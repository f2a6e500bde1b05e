import type { ClickHouseClient } from '@clickhouse/client';
import type { RetentionDays } from '../../../common/settings/settings.js';
import { BODIES } from './body-table.js';
import { makeChanges } from './changes.js';
import { Ddl } from './ddl.js';
import { REQUESTS } from './request-table.js';
import { ROLLUP_TABLES, ROLLUP_VIEWS } from './rollup-tables.js';
import type { Table, View } from './table.js';

export interface SchemaOptions {
  readonly cluster?: string | undefined;
  readonly retentionDays: RetentionDays;
}

/** All tables in their current form. Changes to existing tables are listed in changes.ts as well. */
export const TABLES: readonly Table[] = [REQUESTS, BODIES, ...ROLLUP_TABLES];

export const VIEWS: readonly View[] = ROLLUP_VIEWS;

/**
 * Creates missing tables, upgrades those of earlier releases, and sets how long rows are kept. Any number of processes may run it at once:
 * each statement is a no-op when repeated.
 */
export async function prepareSchema(client: ClickHouseClient, options: SchemaOptions): Promise<void> {
  const ddl = new Ddl(options.cluster);
  for (const query of TABLES.flatMap((table) => ddl.create(table))) await client.command({ query });
  // Before the views, which need the columns that a release adds to the tables of earlier ones.
  await addMissingColumns(client, ddl);
  await makeChanges(client, ddl);
  for (const query of VIEWS.map((view) => ddl.view(view))) await client.command({ query });
  const engines = await enginesOf(client);
  for (const table of TABLES) {
    const days = table.expires && (options.retentionDays[table.expires.kept] || null);
    const name = ddl.stored(table.name);
    if (daysIn(engines.get(name)) === days) continue;
    await client.command({ query: ddl.expire(table, days) }).catch(async (error: unknown) => {
      // Removing a missing TTL fails, and another process may have removed it first.
      if (daysIn((await enginesOf(client)).get(name)) !== days) throw error;
    });
  }
}

/** A table of an earlier release lacks the columns of requests that came later. */
async function addMissingColumns(client: ClickHouseClient, ddl: Ddl): Promise<void> {
  const { name, columns } = REQUESTS;
  const answer = await client.query({
    query: 'SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}',
    query_params: { table: name },
    format: 'JSONEachRow',
  });
  const present = new Set((await answer.json<{ name: string }>()).map((column) => column.name));
  const missing = columns.filter(([column]) => !present.has(column));
  if (missing.length === 0) return;
  for (const query of ddl.addColumns(name, missing)) await client.command({ query });
}

async function enginesOf(client: ClickHouseClient): Promise<ReadonlyMap<string, string>> {
  const answer = await client.query({
    query: 'SELECT name, engine_full FROM system.tables WHERE database = currentDatabase()',
    format: 'JSONEachRow',
  });
  const rows = await answer.json<{ name: string; engine_full: string }>();
  return new Map(rows.map(({ name, engine_full }) => [name, engine_full]));
}

/** For how many days a table keeps its rows now. */
function daysIn(engine: string | undefined): number | null {
  const days = /\bTTL .*?toIntervalDay\((\d+)\)/.exec(engine ?? '')?.[1];
  return days === undefined ? null : Number(days);
}
