import { once } from 'node:events';
import type { PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { encodeRows } from './copy-binary.js';
import { LOG_TABLES, type NewLogRow } from './log-row.js';

/** Writes the rows into every table of the request log. The caller's transaction or savepoint makes it atomic. */
export async function copyRows(
  client: PoolClient,
  rows: readonly NewLogRow[],
  batchId: string,
): Promise<void> {
  for (const table of LOG_TABLES) {
    const derived = rows.flatMap((row) => table.rowsOf(row, batchId));
    if (derived.length > 0)
      await copy(
        client,
        table.name,
        table.columns.map(({ name }) => name),
        encodeRows(table.columns, derived),
      );
  }
}

async function copy(
  client: PoolClient,
  table: string,
  columns: readonly string[],
  data: Buffer,
): Promise<void> {
  const stream = client.query(
    copyFrom(`COPY ${table} (${columns.join(', ')}) FROM STDIN WITH (FORMAT binary)`),
  );
  const finished = once(stream, 'finish');
  stream.end(data);
  await finished;
}
