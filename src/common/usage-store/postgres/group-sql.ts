import { LONGEST_VALUE, NIL_ID } from '../../rollups/dimensions.js';
import type { GroupedBy, GroupOrder } from '../usage-store.js';
import type { Statement } from './statement.js';

/** What groups: the value that is shown, or for configs their id. What it needs to know travels as a parameter. */
export function groupedBySql(by: GroupedBy, statement: Statement): string {
  return by.kind === 'config' ? 'request_logs.config_id' : shown(valueSql(by, statement));
}

const shown = (value: string): string => `left(coalesce((${value})::text, ''), ${LONGEST_VALUE})`;

function valueSql(by: Exclude<GroupedBy, { kind: 'config' }>, statement: Statement): string {
  switch (by.kind) {
    case 'dimension':
      return by.dimension;
    case 'id':
      return `nullif(request_logs.${by.dimension}, '${NIL_ID}'::uuid)`;
    case 'workspace':
      return '(SELECT slug FROM workspaces WHERE workspaces.id = request_logs.workspace_id)';
    case 'metadata':
      return `metadata ->> ${statement.bind(by.key)}::text`;
  }
}

/** What a group is called, by what it is grouped by. A slug is looked up once for a group: for each row that takes longer than adding it up. */
export function namedSql(by: GroupedBy, key: string): string {
  if (by.kind !== 'config') return key;
  return shown(
    `coalesce((SELECT slug FROM configs WHERE configs.id = ${key}), nullif(${key}, '${NIL_ID}'::uuid)::text)`,
  );
}

/** An expression over the measures of a group. */
export function groupOrderSql(order: GroupOrder): string {
  if ('latencyAt' in order) return `counts_quantile(duration_histogram, ${order.latencyAt})`;
  const sum = order.sumOf.join(' + ');
  const whole = order.less === undefined ? sum : `${sum} - ${order.less}`;
  return order.perRequest ? `(${whole})::float8 / requests` : whole;
}
