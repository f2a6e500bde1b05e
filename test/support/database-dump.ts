import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import pg from 'pg';
import type { Sink } from './canaries.js';
import type { Service } from './service.js';

/** The address of the database of a service, its own one included. */
export function databaseUrlOf({ facts }: Service): string {
  const url = facts.databaseUrl ?? urlInFiles(facts.dataDir);
  if (!url) throw new Error(`No file in ${facts.dataDir} names the database.`);
  return url;
}

/** The embedded database's address stands in one of the closed files from which the processes read it. */
function urlInFiles(folder: string): string | null {
  const names = readdirSync(folder);
  if (names.includes('PG_VERSION')) return null;
  for (const name of names) {
    const path = join(folder, name);
    const found = statSync(path, { throwIfNoEntry: false });
    const url = found?.isDirectory()
      ? urlInFiles(path)
      : found?.isFile() && found.size < 64 * 1024
        ? urlIn(path)
        : null;
    if (url) return url;
  }
  return null;
}

const urlIn = (path: string): string | null =>
  /postgres(?:ql)?:\/\/[^\s"']+/.exec(readFileSync(path, 'utf8'))?.[0] ?? null;

/** Runs one piece of work on the database of a service. */
export async function withDatabase<T>(service: Service, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrlOf(service) });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

const TABLES = `
  SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_toast'`;

/** Every row of every table as text, one sink per table. Bytes come as they are, and kept bodies once more unpacked. */
export function databaseDump(service: Service): Promise<Sink[]> {
  return withDatabase(service, dumpOf);
}

export async function dumpOf(client: Pick<pg.Client, 'query'>): Promise<Sink[]> {
  const { rows: tables } = await client.query<{ name: string }>(TABLES);
  const sinks: Sink[] = [];
  for (const { name } of tables) {
    const { rows } = await client.query<Record<string, unknown>>(`SELECT * FROM ${name}`);
    sinks.push({
      name: `table ${name}`,
      bytes: Buffer.concat(rows.flatMap((row) => [...Object.values(row).map(asBytes), ...opened(row)])),
    });
  }
  return sinks;
}

const END = Buffer.from('\n');

function asBytes(value: unknown): Buffer {
  if (Buffer.isBuffer(value)) return Buffer.concat([value, END]);
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return Buffer.from(`${text}\n`);
}

const UNPACK: Readonly<Record<string, (packed: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  deflate: inflateSync,
};

/** A body that was packed for storing is searched unpacked as well. */
function opened(row: Readonly<Record<string, unknown>>): readonly Buffer[] {
  const { stored_encoding: encoding, body } = row;
  if (typeof encoding !== 'string' || !Buffer.isBuffer(body)) return [];
  const unpack = UNPACK[encoding];
  if (!unpack) throw new Error(`No way is known to unpack "${encoding}".`);
  return [unpack(body)];
}
