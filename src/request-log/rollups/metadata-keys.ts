import type { DataSource } from 'typeorm';
import type { Queryable } from '../../database/queryable.js';
import { inTransaction } from './transaction.js';

/** A batch that is being added now may still do without a key that is chosen now. Longer than that takes. */
const FROM_NOW_ON = "date_trunc('minute', now()) + interval '3 minutes'";

/**
 * Makes the chosen keys of the metadata those that have slices. A new one has them for requests from now on; for those
 * before, and for every other key, readers take the request rows.
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
 * Before request rows are counted again from a moment on (null: all of them): slices of all chosen keys begin there at the latest. A key that
 * was counted before it stays so, because its slices outlive the request rows that they were made of.
 */
export async function countMetadataKeysFrom(database: Queryable, from: Date | null): Promise<void> {
  await database.query(
    "UPDATE rollup_metadata_keys SET counted_since = least(counted_since, coalesce($1::timestamptz, '-infinity'))",
    [from],
  );
}

/**
 * After that: readers may rely on it, from the moment on at which request rows and minutes begin by now. Retention may have moved it during
 * the rebuild, which skips hours before it; a key that was chosen during the rebuild is complete only from its own beginning.
 */
export async function metadataKeysAreComplete(database: Queryable, from: Date | null): Promise<void> {
  await database.query(
    `UPDATE rollup_metadata_keys
     SET complete_since = least(complete_since, greatest(counted_since, coalesce($1::timestamptz, '-infinity')))`,
    [from],
  );
}

/** Keys that have slices, and since when each is counted. */
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
