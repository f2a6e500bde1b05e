import type { Whose } from '../../reading/where.js';

/** The parameters of a query. Values travel as parameters and never as SQL. */
export class QueryParameters {
  readonly parameters: unknown[] = [];

  bind(parameter: unknown): string {
    return `$${this.parameters.push(parameter)}`;
  }

  /** Every query is limited to one tenant. */
  tenant({ organizationId, workspaceId }: Whose): string {
    const organization = `organisation_id = ${this.bind(organizationId)}::uuid`;
    return workspaceId === undefined
      ? organization
      : `${organization} AND workspace_id = ${this.bind(workspaceId)}::uuid`;
  }
}
