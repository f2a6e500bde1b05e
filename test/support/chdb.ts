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
) as { createChdbConnection: (options: { path: string }) => unknown };

const OPTIONS: ClickHouseOptions = {
  cluster: undefined,
  retentionDays: { logs: 90, bodies: 30, minutes: 90 },
  // A busy machine takes ten times as long as an idle one.
  readWithinS: 60,
};

/** One engine per process may have a folder, so every test of a file shares it. */
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-chdb-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const connection = createChdbConnection({ path: folder });

/** A client of the engine of ClickHouse itself, inside of this process. */
export const chdbClient = (): ClickHouseClient => createClient({ connection } as Connection);

export const chdb = (options: Partial<ClickHouseOptions> = {}): ClickHouse =>
  new ClickHouse(chdbClient(), { ...OPTIONS, ...options });
