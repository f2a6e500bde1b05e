import { NIL_ID, USER_KEY } from '../../rollups/dimensions.js';
import { labelSql } from '../../rollups/labels.js';
import type { GroupedBy, GroupOrder, MeasureSum } from '../usage-store.js';
import type { PostgresSource } from './source.js';
import type { QueryParameters } from './statement.js';

/** Whether the source has the value as a column, so that rows are grouped by it unchanged and only the groups are formatted. */
const isReady = (by: GroupedBy, { table }: Pick<PostgresSource, 'table'>): by is Ready =>
  by.kind === 'config' || (table !== null && (by.kind === 'dimension' || by.kind === 'id'));

type Ready = Extract<GroupedBy, { kind: 'config' | 'dimension' | 'id' }>;

/** The expression to group by: the displayed value, or a key for it. Its inputs travel as parameters. */
export function postgresGroupKey(by: GroupedBy, statement: QueryParameters, source: PostgresSource): string {
  if (isReady(by, source)) return `request_logs.${by.kind === 'config' ? 'config_id' : by.dimension}`;
  return shown(valueSql(by, statement, source));
}

const shown = (value: string): string => labelSql(`coalesce((${value})::text, '')`);

function valueSql(
  by: Exclude<GroupedBy, { kind: 'config' }>,
  statement: QueryParameters,
  { table }: Pick<PostgresSource, 'table'>,
): string {
  switch (by.kind) {
    case 'dimension':
      return by.dimension;
    case 'id':
      return `nullif(request_logs.${by.dimension}, '${NIL_ID}'::uuid)`;
    case 'workspace':
      return '(SELECT slug FROM workspaces WHERE workspaces.id = request_logs.workspace_id)';
    case 'metadata':
      if (table === null) return `metadata ->> ${statement.bind(by.key)}::text`;
      return by.key === USER_KEY ? 'request_logs.end_user' : 'request_logs.value';
  }
}

/** The display name of a group. It is computed per group: per row it would take longer than the sums. */
export function namedSql(by: GroupedBy, key: string, source: PostgresSource): string {
  if (!isReady(by, source)) return key;
  if (by.kind === 'dimension') return shown(key);
  const id = `nullif(${key}, '${NIL_ID}'::uuid)`;
  if (by.kind === 'id') return shown(id);
  return shown(`coalesce((SELECT slug FROM configs WHERE configs.id = ${key}), ${id}::text)`);
}

/** An expression over the measures of a group. */
export function postgresGroupOrder(order: GroupOrder): string {
  if ('latencyAt' in order) return `counts_quantile(duration_histogram, ${order.latencyAt})`;
  return order.per ? `(${sumSql(order)})::float8 / nullif(${sumSql(order.per)}, 0)` : sumSql(order);
}

/** Several measures may exceed a bigint together. */
function sumSql({ sumOf, less }: MeasureSum): string {
  const sum = sumOf.length === 1 ? sumOf.join() : sumOf.map((name) => `${name}::numeric`).join(' + ');
  return less === undefined ? sum : `${sum} - ${less}`;
}
