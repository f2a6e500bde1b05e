import type { QueryCondition } from '../../reading/log-filters.js';
import type { Whose } from '../../reading/where.js';

/** The parameters of a query. Values travel as parameters and never as SQL; `{p0:Type}` is the placeholder. */
export class ClickHouseQuery {
  readonly parameters: Record<string, unknown> = {};
  private count = 0;

  /** https://clickhouse.com/docs/sql-reference/syntax#defining-and-using-query-parameters */
  readonly bind = (value: unknown, type: string): string => {
    const name = `p${this.count++}`;
    this.parameters[name] = value;
    return `{${name}:${type}}`;
  };

  /** Every query is limited to one tenant. */
  tenant({ organizationId, workspaceId }: Whose): string {
    const organization = `organisation_id = ${this.bind(organizationId, 'UUID')}`;
    return workspaceId === undefined
      ? organization
      : `${organization} AND workspace_id = ${this.bind(workspaceId, 'UUID')}`;
  }

  /** In the column's own type, so that ClickHouse prunes partitions. Whole seconds. */
  between(column: 'bucket' | 'created_at', from: number, to: number): string {
    const at = (ms: number): string =>
      column === 'bucket'
        ? `toDateTime(${this.bind(ms / MS_PER_S, 'UInt32')}, 'UTC')`
        : `toDateTime64(${this.bind(ms / MS_PER_S, 'UInt32')}, 6, 'UTC')`;
    return `(${column} >= ${at(from)} AND ${column} < ${at(to)})`;
  }
}

const MS_PER_S = 1_000;

/** Reads ids from PostgreSQL: its SQL, the organization ($1) and the parameter ($2). */
export type IdsOf = (sql: string, parameter: unknown) => Promise<readonly string[]>;

/** The conditions as ClickHouse SQL; null when one of them needs data that only PostgreSQL has. */
export async function conditionsSql(
  question: ClickHouseQuery,
  conditions: readonly QueryCondition[],
  idsOf: IdsOf,
): Promise<readonly string[] | null> {
  const found: string[] = [];
  for (const { inClickHouse, parameter } of conditions) {
    if (inClickHouse === null) return null;
    found.push(
      'sql' in inClickHouse
        ? inClickHouse.sql(question.bind, parameter)
        : oneOfIds(inClickHouse, question.bind(await idsOf(inClickHouse.ids, parameter), 'Array(UUID)')),
    );
  }
  return found;
}

function oneOfIds(
  { column, isNegated }: { readonly column: string; readonly isNegated?: true },
  ids: string,
): string {
  const isAny = `${column} IN ${ids}`;
  return isNegated ? `NOT ifNull(${isAny}, false)` : isAny;
}
