import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { ClickHouse, type ClickHouseOptions } from '../../src/request-log/analytics/clickhouse/clickhouse.js';

type Connection = NonNullable<Parameters<typeof createClient>[0]>;

/** From its own package: half a gigabyte that the project's install does without. */
const { createChdbConnection } = createRequire(new URL('../clickhouse/package.json', import.meta.url))(
  'chdb/connection',
) as { createChdbConnection: (options: { path: string }) => { close(): Promise<void> } };

const OPTIONS: ClickHouseOptions = {
  cluster: undefined,
  retentionDays: { logs: 90, bodies: 30, minutes: 90 },
  // A busy machine takes ten times as long as an idle one.
  readWithinS: 60,
};

/** One engine per process may have a folder, so all files of a process share it. */
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-chdb-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const connection = createChdbConnection({ path: folder });
// A client that is closed would close the engine of the files that follow.
connection.close = async () => undefined;

/** A client of the engine of ClickHouse itself, inside of this process. */
export const chdbClient = (): ClickHouseClient => createClient({ connection } as Connection);

export const chdb = (options: Partial<ClickHouseOptions> = {}): ClickHouse =>
  new ClickHouse(chdbClient(), { ...OPTIONS, ...options });

/** Drops every table, so that the next file finds none of this one's rows. */
export async function emptyChdb(): Promise<void> {
  const engine = chdbClient();
  const tables = await engine.query({ query: 'SHOW TABLES', format: 'JSONEachRow' });
  for (const { name } of await tables.json<{ name: string }>())
    await engine.command({ query: `DROP TABLE ${name} SYNC` });
}
