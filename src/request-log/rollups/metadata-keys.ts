import type { DataSource } from 'typeorm';
import type { Queryable } from '../../database/queryable.js';
import { inTransaction } from './transaction.js';

/** A batch that is being added now may still omit a newly chosen key. This is longer than adding takes. */
const FROM_NOW_ON = "date_trunc('minute', now()) + interval '3 minutes'";

/**
 * Sets the metadata keys that have slices. A new key has slices for requests from now on; for earlier requests and all other keys, readers
 * use the request rows.
 */
export async function chooseMetadataKeys(database: DataSource, keys: readonly string[]): Promise<void> {
  await inTransaction(database, async (transaction) => {
    await transaction.query('DELETE FROM rollup_metadata_keys WHERE key <> ALL ($1::text[])', [keys]);
    await transaction.query(
      `INSERT INTO rollup_metadata_keys (key, counted_since, complete_since)
       SELECT DISTINCT key, ${FROM_NOW_ON}, ${FROM_NOW_ON} FROM unnest($1::text[]) AS key
       ON CONFLICT (key) DO NOTHING`,
      [keys],
    );
  });
}

/**
 * Before request rows are recounted from a time on (null: all of them): the slices of all chosen keys begin there at the latest. Keys
 * counted from earlier stay unchanged, because their slices outlive the request rows they were derived from.
 */
export async function countMetadataKeysFrom(database: Queryable, from: Date | null): Promise<void> {
  await database.query(
    "UPDATE rollup_metadata_keys SET counted_since = least(counted_since, coalesce($1::timestamptz, '-infinity'))",
    [from],
  );
}

/**
 * After the recount: readers may rely on the slices from the time on at which request rows and minutes now begin. Retention may have moved
 * it during the rebuild, which skips hours before it; a key chosen during the rebuild is complete only from its own start.
 */
export async function metadataKeysAreComplete(database: Queryable, from: Date | null): Promise<void> {
  await database.query(
    `UPDATE rollup_metadata_keys
     SET complete_since = least(complete_since, greatest(counted_since, coalesce($1::timestamptz, '-infinity')))`,
    [from],
  );
}

/** Keys that have slices, each with the time from which it is counted. */
export interface CountedKeys {
  readonly names: readonly string[];
  readonly since: readonly string[];
}

export async function countedKeys(database: Queryable): Promise<CountedKeys> {
  const rows = await database.query<{ key: string; since: string }>(
    'SELECT key, counted_since::text AS since FROM rollup_metadata_keys ORDER BY key',
  );
  return { names: rows.map(({ key }) => key), since: rows.map(({ since }) => since) };
}
