import type { QueryResultRow } from 'pg';
import { type AnyRow, LogDatabase } from '../../src/request-log/reading/log-database.js';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Alias?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** A statement and how PostgreSQL ran it. */
export interface ExplainedStatement {
  readonly sql: string;
  readonly pages: number;
  /** Tables that it read from one end to the other. */
  readonly scanned: readonly string[];
  /** Parts of a union whose rows it built anew, because not all of their columns are used. */
  readonly rebuilt: readonly string[];
}

/** How PostgreSQL names the parts of a union, and the rest of a union that has no name. */
const PART_OF_UNION = /^(\*SELECT\* \d+|unnamed_subquery(_\d+)?)$/;

/** Notes the plan of every statement, and how many pages it read. */
export class ExplainingDatabase extends LogDatabase {
  statements: ExplainedStatement[] = [];

  override async read<Row extends QueryResultRow>(
    sql: string,
    parameters: readonly unknown[],
  ): Promise<readonly Row[]> {
    await this.explain(sql, parameters);
    return super.read<Row>(sql, parameters);
  }

  override async each(
    sql: string,
    parameters: readonly unknown[],
    take: (row: AnyRow) => void,
  ): Promise<void> {
    await this.explain(sql, parameters);
    return super.each(sql, parameters, take);
  }

  private async explain(sql: string, parameters: readonly unknown[]): Promise<void> {
    const explained = `EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT JSON) ${sql}`;
    const [row] = await super.read<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
      explained,
      parameters,
    );
    if (!row) throw new Error('EXPLAIN returned no plan.');
    const { Plan: plan } = row['QUERY PLAN'][0];
    const scanned = nodesOf(plan)
      .filter((node) => node['Node Type'] === 'Seq Scan')
      .flatMap((node) => node['Relation Name'] ?? []);
    const rebuilt = nodesOf(plan)
      .filter((node) => node['Node Type'] === 'Subquery Scan')
      .flatMap(({ Alias: alias }) => (alias !== undefined && PART_OF_UNION.test(alias) ? [alias] : []));
    const pages = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    this.statements.push({ sql, pages, scanned, rebuilt });
  }
}

const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
