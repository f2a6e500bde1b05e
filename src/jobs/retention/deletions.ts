import type { Queryable } from '../../database/queryable.js';
import type { LogPart, RowsOf } from '../../request-log/retention/kept-times.js';
import { NIL_ID } from '../../request-log/rollups/dimensions.js';
import { existing, type LogDay, partitionOf, TABLES_OF } from './log-days.js';

/** A tenant whose rows were removed from a day, and when. */
export interface RecordedDeletion extends RowsOf {
  readonly cut_at: Date;
}

export async function deletionsOf(
  database: Queryable,
  part: LogPart,
  day: LogDay,
): Promise<readonly RecordedDeletion[]> {
  return database.query<RecordedDeletion>(
    `SELECT organization_id, workspace_id, max(cut_at) AS cut_at FROM log_partition_cuts
     WHERE partition = ANY ($1::text[]) GROUP BY organization_id, workspace_id`,
    [TABLES_OF[part].map((table) => partitionOf(table, day))],
  );
}

/**
 * The tenants whose bodies of a day arrived after they were cut. Only batches that were stored a day or more after their oldest request are
 * checked: there are few, and they are indexed. A batch may have begun before the cut that it waited for.
 */
export async function lateBodiesOf(database: Queryable, day: LogDay): Promise<readonly RowsOf[]> {
  const [logs, bodies] = [partitionOf('request_logs', day), partitionOf('request_bodies', day)];
  if ((await existing(database, [logs, bodies])).length < 2) return [];
  return database.query<RowsOf>(
    `SELECT DISTINCT cut.organization_id, cut.workspace_id FROM log_partition_cuts AS cut
     JOIN log_batches AS batch ON batch.created_at - batch.min_created_at > interval '1 day'
       AND batch.created_at > cut.cut_at - interval '1 hour' AND batch.min_created_at < $2 AND batch.max_created_at >= $3
     JOIN "${logs}" AS request ON request.batch_id = batch.id AND request.organisation_id = cut.organization_id
       AND coalesce(request.workspace_id, '${NIL_ID}') = cut.workspace_id
     JOIN "${bodies}" AS body ON body.request_id = request.id AND body.created_at = request.created_at
     WHERE cut.partition = $1`,
    [bodies, day.to, day.from],
  );
}

/** In the format of the table of cuts: the nil id stands for no workspace. */
export const keyOf = ({ organization_id, workspace_id }: RowsOf): string =>
  `${organization_id} ${workspace_id ?? NIL_ID}`;

export const keysOf = (tenants: readonly RowsOf[]): ReadonlySet<string> => new Set(tenants.map(keyOf));
