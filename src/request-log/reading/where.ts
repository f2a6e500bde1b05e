import { NIL_ID } from '../rollups/dimensions.js';
import type { QueryCondition } from './log-filters.js';

/** The scope of a query of the request log: a workspace, or a whole organization. */
export interface Whose {
  readonly organizationId: string;
  readonly workspaceId?: string;
  /** All workspaces with requests, for a whole organization (`LogScope`); the nil id stands for requests without one. */
  readonly workspaceIds?: readonly string[];
}

/** A condition on request rows that holds for each of them, and that indexes by workspace can use. */
export const inAnyWorkspace = (ids: string, { workspaceIds = [] }: Whose): string => {
  const isAny = `workspace_id = ANY(${ids}::uuid[])`;
  return workspaceIds.includes(NIL_ID) ? `(${isAny} OR workspace_id IS NULL)` : isAny;
};

/** The conditions of a query and their parameters. It starts with the scope: no query goes without one. */
export class WhereClause {
  readonly parameters: unknown[] = [];
  private readonly conditions: string[] = [];

  constructor(whose: Whose) {
    const { organizationId, workspaceId, workspaceIds } = whose;
    this.and((placeholder) => `organisation_id = ${placeholder}::uuid`, organizationId);
    if (workspaceIds) this.and((placeholder) => inAnyWorkspace(placeholder, whose), workspaceIds);
    if (workspaceId !== undefined)
      this.and((placeholder) => `workspace_id = ${placeholder}::uuid`, workspaceId);
  }

  get sql(): string {
    return this.conditions.join(' AND ');
  }

  bind(parameter: unknown): string {
    return `$${this.parameters.push(parameter)}`;
  }

  and(sql: (placeholder: string) => string, parameter: unknown): void {
    this.conditions.push(sql(this.bind(parameter)));
  }
}

export function filtered(whose: Whose, conditions: readonly QueryCondition[]): WhereClause {
  const query = new WhereClause(whose);
  for (const { sql, parameter } of conditions) query.and(sql, parameter);
  return query;
}
