import { NIL_ID } from '../../rollups/dimensions.js';
import type { GroupedBy, GroupOrder } from '../usage-store.js';
import type { Statement } from './statement.js';

/** The expression that groups. What it needs to know travels as a parameter. */
export function groupedBySql(by: GroupedBy, statement: Statement): string {
  switch (by.kind) {
    case 'dimension':
      return by.dimension;
    case 'id':
      return `nullif(request_logs.${by.dimension}, '${NIL_ID}'::uuid)`;
    case 'workspace':
      return '(SELECT slug FROM workspaces WHERE workspaces.id = request_logs.workspace_id)';
    case 'config':
      return `coalesce((SELECT slug FROM configs WHERE configs.id = request_logs.config_id),
        nullif(request_logs.config_id, '${NIL_ID}'::uuid)::text)`;
    case 'metadata':
      return `metadata ->> ${statement.bind(by.key)}::text`;
  }
}

/** An expression over the measures of a group. */
export function groupOrderSql(order: GroupOrder): string {
  if ('latencyAt' in order) return `counts_quantile(duration_histogram, ${order.latencyAt})`;
  const sum = order.sumOf.join(' + ');
  const whole = order.less === undefined ? sum : `${sum} - ${order.less}`;
  return order.perRequest ? `(${whole})::float8 / requests` : whole;
}
