import type { Queryable } from '../../database/queryable.js';

/** A workspace's hour or day whose source buckets changed. The nil id stands for requests without a workspace. */
export interface DirtyBucket {
  readonly grain: 'hour' | 'day';
  readonly bucket: Date;
  readonly organisationId: string;
  readonly workspaceId: string;
}

/** Ends an INSERT of marks: an existing mark restarts its wait. */
export const MARKED_AGAIN =
  'ON CONFLICT (grain, bucket, organisation_id, workspace_id) DO UPDATE SET touched_at = now()';

/**
 * Marks that can be derived: their time has passed and nothing was added for a while, so that the work is done once and blocks no writer. A
 * day waits for its hours. Until then readers use the finer buckets.
 */
const RIPE = `
  SELECT grain, bucket, organisation_id AS "organisationId", workspace_id AS "workspaceId" FROM rollup_marks AS mark
  WHERE bucket + CASE grain WHEN 'hour' THEN interval '1 hour' ELSE interval '1 day' END <= now() - $1::interval
    AND touched_at <= now() - $1::interval
    AND (grain = 'hour' OR NOT EXISTS (
      SELECT 1 FROM rollup_marks AS hour
      WHERE hour.grain = 'hour' AND hour.bucket >= mark.bucket AND hour.bucket < mark.bucket + interval '1 day'
        AND hour.organisation_id = mark.organisation_id AND hour.workspace_id = mark.workspace_id))
  ORDER BY grain DESC, bucket, organisation_id, workspace_id
  LIMIT $2`;

export function dueBuckets(database: Queryable, quietSeconds: number, most: number): Promise<DirtyBucket[]> {
  return database.query<DirtyBucket>(RIPE, [`${quietSeconds} seconds`, most]);
}

/** Removes a mark. False when another process was first. */
export async function takeBucket(
  transaction: Queryable,
  { grain, bucket, organisationId, workspaceId }: DirtyBucket,
): Promise<boolean> {
  const [taken] = await transaction.query<{ found: boolean }>(
    `WITH taken AS (
       DELETE FROM rollup_marks WHERE grain = $1 AND bucket = $2 AND organisation_id = $3 AND workspace_id = $4 RETURNING 1
     )
     SELECT EXISTS (SELECT 1 FROM taken) AS found`,
    [grain, bucket, organisationId, workspaceId],
  );
  return taken?.found === true;
}

/** Postpones a mark, as if its bucket had just changed. */
export async function postponeBucket(
  database: Queryable,
  { grain, bucket, organisationId, workspaceId }: DirtyBucket,
): Promise<void> {
  await database.query(
    `UPDATE rollup_marks SET touched_at = now()
     WHERE grain = $1 AND bucket = $2 AND organisation_id = $3 AND workspace_id = $4`,
    [grain, bucket, organisationId, workspaceId],
  );
}

/** Marks the day of an hour. */
export async function markDay(
  transaction: Queryable,
  { bucket, organisationId, workspaceId }: DirtyBucket,
): Promise<void> {
  await transaction.query(
    `INSERT INTO rollup_marks (grain, bucket, organisation_id, workspace_id)
     VALUES ('day', date_trunc('day', $1::timestamptz, 'UTC'), $2, $3) ${MARKED_AGAIN}`,
    [bucket, organisationId, workspaceId],
  );
}

/** Marks an hour for every workspace with rows in it, in its minutes or in the hour itself. */
export async function markHour(transaction: Queryable, hour: Date, end: Date): Promise<void> {
  await transaction.query(
    `INSERT INTO rollup_marks (grain, bucket, organisation_id, workspace_id)
     SELECT 'hour', $1, organisation_id, workspace_id FROM (
       SELECT organisation_id, workspace_id FROM usage_slice_minute WHERE bucket >= $1 AND bucket < $2
       UNION SELECT organisation_id, workspace_id FROM usage_slice_hour WHERE bucket = $1
     ) AS having_it
     ORDER BY organisation_id, workspace_id ${MARKED_AGAIN}`,
    [hour, end],
  );
}
