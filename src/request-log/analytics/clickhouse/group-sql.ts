import { NIL_ID } from '../../rollups/dimensions.js';
import type { GroupedBy, GroupOrder, MeasureSum } from '../usage-store.js';
import { NO_ID } from './expressions.js';
import type { ClickHouseQuery } from './clickhouse-query.js';

/** Names of ids, read from PostgreSQL. */
export interface Names {
  readonly ids: readonly string[];
  readonly slugs: readonly string[];
}

const idText = (column: string): string =>
  `if(coalesce(${column}, ${NO_ID}) = ${NO_ID}, '', toString(${column}))`;

/** The name of an id; `otherwise` if it has none. A list for `transform` must not be empty. */
function named(question: ClickHouseQuery, column: string, names: Names, otherwise: string): string {
  const ids = question.bind([NIL_ID, ...names.ids], 'Array(String)');
  const slugs = question.bind(['', ...names.slugs], 'Array(String)');
  return `transform(coalesce(toString(${column}), '${NIL_ID}'), ${ids}, ${slugs}, ${otherwise})`;
}

/** The expression to group by, as a text. */
export function clickhouseGroupKey(by: GroupedBy, question: ClickHouseQuery, names: Names): string {
  switch (by.kind) {
    case 'dimension':
      return `coalesce(toString(${by.dimension}), '')`;
    case 'id':
      return idText(by.dimension);
    case 'workspace':
      return named(question, 'workspace_id', names, "''");
    case 'config':
      return named(question, 'config_id', names, idText('config_id'));
    case 'metadata':
      return `metadata[${question.bind(by.key, 'String')}]`;
  }
}

/** Bucket of the histogram at a quantile (nearest rank), as `counts_quantile` in PostgreSQL. */
const quantile = (histogram: string, share: number): string => {
  const ranked = `arrayZip(arraySort(mapKeys(${histogram})),
    arrayCumSum(arraySort((count, bucket) -> bucket, mapValues(${histogram}), mapKeys(${histogram}))))`;
  return `arrayFirst(each -> each.2 >= greatest(1, ceil(${share} * arraySum(mapValues(${histogram})))), ${ranked}).1`;
};

/** An expression over the measures of a group. */
export function clickhouseGroupOrder(order: GroupOrder): string {
  if ('latencyAt' in order) return quantile('duration_histogram', order.latencyAt);
  return order.per ? `(${sumSql(order)}) / nullIf(${sumSql(order.per)}, 0)` : sumSql(order);
}

/** Several measures may exceed 64 bits together, where ClickHouse would wrap around. */
function sumSql({ sumOf, less }: MeasureSum): string {
  const sum = sumOf.length === 1 ? sumOf.join() : sumOf.map((name) => `toInt128(${name})`).join(' + ');
  return less === undefined ? sum : `${sum} - ${less}`;
}
