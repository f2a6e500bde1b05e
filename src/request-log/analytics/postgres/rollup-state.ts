import type { LogDatabase } from '../../reading/log-database.js';
import { countedWorkspaces } from '../../reading/log-scope.js';
import type { Whose } from '../../reading/where.js';
import type { RollupState } from '../coverage.js';
import type { TimeRange } from '../usage-store.js';

/** What a query must know before it is written. */
export interface ReadState extends RollupState {
  readonly rowsFrom: number;
  readonly keys: readonly ChosenKey[];
  /** The workspaces of an organization that have counts in the range. */
  readonly scope: Pick<Whose, 'workspaceIds'>;
}

interface ChosenKey {
  readonly key: string;
  readonly complete_since: number;
}

interface StateRow {
  readonly hours: readonly number[] | null;
  readonly days: readonly number[] | null;
  readonly minutes_from: number | null;
  readonly rows_from: number | null;
  readonly keys: readonly ChosenKey[] | null;
  readonly workspaces?: readonly string[] | null;
}

const ms = (column: string): string =>
  `(CASE WHEN isfinite(${column}) THEN extract(epoch FROM ${column}) * 1000 ELSE 0 END)::float8`;

const marksOf = (granularity: string): string =>
  `(SELECT array_agg(DISTINCT ${ms('bucket')}) FROM rollup_marks WHERE grain = '${granularity}'
    AND bucket > $1::timestamptz - interval '1 day' AND bucket < $2::timestamptz
    AND organisation_id = $3 AND ($4::uuid IS NULL OR workspace_id = $4))`;

const COLUMNS = `${marksOf('hour')} AS hours, ${marksOf('day')} AS days,
  (SELECT ${ms('before')} FROM rollup_seals WHERE grain = 'minute') AS minutes_from,
  (SELECT ${ms('before')} FROM rollup_seals WHERE grain = 'row') AS rows_from,
  (SELECT jsonb_agg(jsonb_build_object('key', key, 'complete_since', ${ms('complete_since')}))
   FROM rollup_metadata_keys) AS keys`;

const OF_WORKSPACE = `SELECT ${COLUMNS}`;
const OF_ORGANIZATION = `SELECT ${COLUMNS}, ${countedWorkspaces('$3', '$1', '$2')} AS workspaces`;

/** Times as numbers: PostgreSQL's infinities are not valid JavaScript dates. */
export async function readState(
  database: LogDatabase,
  { organizationId, workspaceId }: Whose,
  { from, to }: TimeRange,
): Promise<ReadState> {
  const sql = workspaceId === undefined ? OF_ORGANIZATION : OF_WORKSPACE;
  const tenant = [organizationId, workspaceId ?? null];
  const [row] = await database.read<StateRow>(sql, [new Date(from), new Date(to), ...tenant]);
  if (!row) throw new Error('The state of the rollups is one row.');
  return {
    changedHours: new Set(row.hours),
    changedDays: new Set(row.days),
    minutesFrom: row.minutes_from ?? -Infinity,
    rowsFrom: row.rows_from ?? -Infinity,
    keys: row.keys ?? [],
    scope: workspaceId === undefined ? { workspaceIds: row.workspaces ?? [] } : {},
  };
}
