import type { Queryable } from '../../../database/queryable.js';
import { clickHouseType } from '../../columns/log-column.js';
import { LOG_COLUMN_NAMES, LOG_COLUMNS, type LogColumnName } from '../../columns/log-columns.js';
import { NIL_ID } from '../../rollups/dimensions.js';
import { boundsOf, OF_BATCHES, type CountedBatch } from '../count-once.js';

interface RowColumn {
  readonly name: string;
  readonly type: string;
  /** The expression over PostgreSQL's `request_logs` for this column; default: the column of the same name. */
  readonly from?: string;
}

/** Documents are kept as PostgreSQL's text of them. Lists and maps cannot be null. */
const FROM: Readonly<Partial<Record<LogColumnName, string>>> = {
  workspace_id: `coalesce(workspace_id, '${NIL_ID}'::uuid)`,
  created_at: "to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')",
  metadata: "coalesce(metadata, '{}'::jsonb)",
  decisions: 'decisions::text',
  hook_results: 'hook_results::text',
  dropped_parameters: "coalesce(dropped_parameters, '{}')",
};

const columns = (areCounted: boolean): RowColumn[] =>
  LOG_COLUMN_NAMES.filter((name) => LOG_COLUMNS[name].isCounted === areCounted).map((name) => {
    const from = FROM[name];
    const type = clickHouseType(LOG_COLUMNS[name]);
    return from === undefined ? { name, type } : { name, type, from };
  });

/** Metadata keys that had slices when the request arrived (src/request-log/rollups/metadata-keys.ts). */
const CHOSEN_KEYS = `ARRAY(SELECT key FROM rollup_metadata_keys
  WHERE counted_since <= request_logs.created_at ORDER BY key)`;

/** Every column of a request that is counted or filtered by. */
export const COUNTED_COLUMNS: readonly RowColumn[] = [
  ...columns(true),
  { name: 'chosen_keys', type: 'Array(String)', from: CHOSEN_KEYS },
];

/** A request in ClickHouse, without its attempts and bodies. */
export const ROW_COLUMNS: readonly RowColumn[] = [
  ...COUNTED_COLUMNS,
  ...columns(false),
  { name: 'has_metadata', type: 'Bool', from: 'metadata IS NOT NULL' },
  // False in rows that have only the counted columns: those of a process that only counted.
  { name: 'is_whole', type: 'Bool', from: 'true' },
];

const SELECTED = ROW_COLUMNS.map(({ name, from }) => (from === undefined ? name : `${from} AS ${name}`)).join(
  ', ',
);

/** Always in the same order: storing a batch again must produce the same rows. */
const ROWS_OF_BATCHES = `SELECT ${SELECTED} FROM request_logs WHERE ${OF_BATCHES} ORDER BY request_logs.created_at, id`;

/** The requests of a batch in ClickHouse's format. */
export function rowsOfBatch(database: Queryable, batch: CountedBatch): Promise<readonly unknown[]> {
  return database.query(ROWS_OF_BATCHES, [...boundsOf([batch])]);
}
