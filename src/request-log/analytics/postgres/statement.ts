import { inAnyWorkspace, type Whose } from '../../reading/where.js';

/** The parameters of a query. Values travel as parameters and never as SQL. */
export class QueryParameters {
  readonly parameters: unknown[] = [];

  bind(parameter: unknown): string {
    return `$${this.parameters.push(parameter)}`;
  }

  /** Every query is limited to one tenant. `ofRows`: how request rows match the workspaces of an organization. */
  tenant(whose: Whose, ofRows = inAnyWorkspace): string {
    const { organizationId, workspaceId, workspaceIds } = whose;
    const organization = `organisation_id = ${this.bind(organizationId)}::uuid`;
    if (workspaceId !== undefined)
      return `${organization} AND workspace_id = ${this.bind(workspaceId)}::uuid`;
    return workspaceIds ? `${organization} AND ${ofRows(this.bind(workspaceIds), whose)}` : organization;
  }

  /** The same for rollups, which name requests without a workspace by the nil id. */
  tenantOfRollup(whose: Whose): string {
    return this.tenant(whose, (ids) => `workspace_id = ANY(${ids}::uuid[])`);
  }
}
