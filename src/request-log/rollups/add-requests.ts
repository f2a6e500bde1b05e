import type { Queryable } from '../../database/queryable.js';
import { type Granularity, NEXT_GRANULARITY } from './granularities.js';
import { MARKED_AGAIN } from './dirty-buckets.js';
import { countedKeys } from './metadata-keys.js';
import { addRequestsSql, FAMILIES } from './rollup-sql.js';
import type { Seals } from './seals.js';

/** Request rows to add: a condition, its parameters, and the range of arrival times. */
export interface Requests {
  readonly where: string;
  readonly parameters: readonly unknown[];
  readonly first: Date;
  readonly last: Date;
}

/** Rows that arrive after their minutes were removed are added to their hours. */
function rangesOf({ minute }: Seals): readonly (readonly [grain: AddedTo, from: number, to: number])[] {
  return [
    ['minute', minute, Infinity],
    ['hour', -Infinity, minute],
  ];
}

type AddedTo = Exclude<Granularity, 'day'>;

/**
 * Adds requests to the rollups and marks the buckets above as changed, per affected workspace. Must run inside a transaction that holds
 * `LOCK_TO_ADD`. The marks come last, because everyone who counts in a workspace's current hour waits for its mark.
 */
export async function addRequests(database: Queryable, seals: Seals, requests: Requests): Promise<void> {
  const keys = await countedKeys(database);
  for (const [granularity, from, to] of rangesOf(seals)) {
    if (requests.first.getTime() >= to || requests.last.getTime() < from) continue;
    const parameters = [...requests.parameters, momentOf(from), momentOf(to)];
    const [begin, end] = [parameters.length - 1, parameters.length];
    const where = `${requests.where} AND created_at >= $${begin}::timestamptz AND created_at < $${end}::timestamptz`;
    const source = { where, keys: { count: keys.names.length, names: `$${end + 1}`, since: `$${end + 2}` } };
    for (const family of FAMILIES) {
      const adding = addRequestsSql(family, granularity, source);
      await database.query(
        family === MARKING ? markingSql(adding, NEXT_GRANULARITY[granularity]) : adding,
        family.hasKeys && keys.names.length > 0 ? [...parameters, keys.names, keys.since] : parameters,
      );
    }
  }
}

/** The family that is added to last. Every request is in at least one of its rows. */
const MARKING = FAMILIES.at(-1);

/**
 * Updating an existing mark locks it until the commit. Deriving first removes the mark, so it either sees these rows or leaves the mark to
 * the next round.
 */
const markingSql = (adding: string, granularity: Exclude<Granularity, 'minute'>): string => `
  WITH added AS (${adding} RETURNING organisation_id, workspace_id, bucket)
  INSERT INTO rollup_marks (grain, bucket, organisation_id, workspace_id)
  SELECT DISTINCT '${granularity}', date_trunc('${granularity}', bucket, 'UTC') AS above, organisation_id, workspace_id FROM added
  ORDER BY above, organisation_id, workspace_id
  ${MARKED_AGAIN}`;

/** Creates the partitions for requests of these days. Runs outside the adding transaction, which would hold its lock until the commit. */
export async function ensurePartitionsFor(
  database: Queryable,
  seals: Seals,
  days: readonly Date[],
): Promise<void> {
  const partitions = rangesOf(seals).flatMap(([granularity, from, to]) =>
    days
      .filter((day) => day.getTime() >= from && day.getTime() < to)
      .flatMap((day) => FAMILIES.map((family) => [family.table(granularity), day] as const)),
  );
  await ensureRollupPartitions(database, partitions);
}

/** Creates the partitions for these times, where missing. */
export async function ensureRollupPartitions(
  database: Queryable,
  partitions: readonly (readonly [table: string, moment: Date])[],
): Promise<void> {
  await database.query(
    'SELECT ensure_rollup_partition(name, moment) FROM unnest($1::text[], $2::timestamptz[]) AS wanted (name, moment)',
    [partitions.map(([table]) => table), partitions.map(([, moment]) => moment)],
  );
}

const momentOf = (at: number): string =>
  at === Infinity ? 'infinity' : at === -Infinity ? '-infinity' : new Date(at).toISOString();
