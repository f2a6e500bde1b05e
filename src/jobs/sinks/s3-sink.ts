import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ObjectStore } from '../../request-log/bodies/object-store.js';
import type { Consignment, LogDestination } from './log-sink.js';
import type { SentRow } from './sent-row.js';

const pack = promisify(gzip);

/**
 * Writes requests to the bucket as gzipped JSON Lines: one object per organization and day of a delivery,
 * `logs/organization=<id>/date=<YYYY-MM-DD>/<first>-<last>.jsonl.gz`, a Hive-style layout for query engines. The two numbers are those of
 * its batches; repeating the same delivery overwrites its objects.
 */
export class S3Sink implements LogDestination {
  readonly id = 's3';
  readonly gathering;

  constructor(
    private readonly store: ObjectStore,
    seconds: number,
  ) {
    this.gathering = { rows: 5_000, seconds };
  }

  async deliver(consignment: Consignment, signal: AbortSignal): Promise<void> {
    const { batches } = consignment;
    const numbers = [batches[0], batches.at(-1)].map((batch) => (batch?.seq ?? '0').padStart(12, '0'));
    for (const [folder, rows] of byFolder(await consignment.rows())) {
      const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
      const key = `logs/${folder}/${numbers.join('-')}.jsonl.gz`;
      await this.store.put(key, await pack(lines), { type: 'application/gzip' }, signal);
    }
  }

  /** The store is shared. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}

function byFolder(rows: readonly SentRow[]): ReadonlyMap<string, SentRow[]> {
  const folders = new Map<string, SentRow[]>();
  for (const row of rows) {
    const folder = `organization=${row.organisation_id}/date=${row.created_at.slice(0, 10)}`;
    const there = folders.get(folder);
    if (there) there.push(row);
    else folders.set(folder, [row]);
  }
  return folders;
}
