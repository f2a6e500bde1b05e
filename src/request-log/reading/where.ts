import type { QueryCondition } from './log-filters.js';

/** The scope of a query of the request log: a workspace, or a whole organization. */
export interface Whose {
  readonly organizationId: string;
  readonly workspaceId?: string;
}

/** The conditions of a query and their parameters. It starts with the scope: no query goes without one. */
export class WhereClause {
  readonly parameters: unknown[] = [];
  readonly #conditions: string[] = [];

  constructor({ organizationId, workspaceId }: Whose) {
    this.and((placeholder) => `organisation_id = ${placeholder}::uuid`, organizationId);
    if (workspaceId !== undefined)
      this.and((placeholder) => `workspace_id = ${placeholder}::uuid`, workspaceId);
  }

  get sql(): string {
    return this.#conditions.join(' AND ');
  }

  bind(parameter: unknown): string {
    return `$${this.parameters.push(parameter)}`;
  }

  and(sql: (placeholder: string) => string, parameter: unknown): void {
    this.#conditions.push(sql(this.bind(parameter)));
  }
}

export function filtered(whose: Whose, conditions: readonly QueryCondition[]): WhereClause {
  const query = new WhereClause(whose);
  for (const { sql, parameter } of conditions) query.and(sql, parameter);
  return query;
}
