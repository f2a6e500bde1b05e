import { type Actor, CurrentRights, type Rights } from '../../auth/ports.js';
import { administersOrganization, narrowedVisibility, scopesOfRoles } from '../../auth/permissions/roles.js';
import type { OrganizationSettings } from '../../common/contracts/organization-settings.js';
import type { OrganizationRole, WorkspaceRole } from '../../common/contracts/roles.js';
import type { Queryable } from '../../database/queryable.js';
import { type ApiKeyRow, BY_ID, principalOfKey } from './api-key-rows.js';

interface PersonRow {
  readonly role: OrganizationRole;
  readonly workspace_role: WorkspaceRole | null;
  readonly settings: Partial<OrganizationSettings>;
}

const PERSON = `
  SELECT person.role, member.role AS workspace_role, organization.settings
  FROM users person JOIN organizations organization ON organization.id = person.organization_id
  LEFT JOIN workspace_members member ON member.workspace_id = $3 AND member.user_id = person.id
  WHERE person.organization_id = $1 AND person.id = $2 AND person.status = 'active'`;

/** Current rights, from the tables of keys and users. */
export class PostgresCurrentRights extends CurrentRights {
  constructor(private readonly database: Queryable) {
    super();
  }

  override of(actor: Actor): Promise<Rights | null> {
    return actor.apiKeyId === null ? this.ofUser(actor) : this.ofKey(actor, actor.apiKeyId);
  }

  private async ofKey(actor: Actor, id: string): Promise<Rights | null> {
    const [row] = await this.database.query<ApiKeyRow>(BY_ID, [id]);
    if (!row || row.organization_id !== actor.organizationId) return null;
    if (row.workspace_id !== null && row.workspace_id !== actor.workspaceId) return null;
    return principalOfKey(row);
  }

  private async ofUser({ organizationId, userId, workspaceId }: Actor): Promise<Rights | null> {
    const [row] = await this.database.query<PersonRow>(PERSON, [organizationId, userId, workspaceId]);
    if (!row) return null;
    const roles = { organization: row.role, workspace: row.workspace_role };
    if (row.workspace_role === null && !administersOrganization(roles)) return null;
    const switches = row.settings.security_settings ?? null;
    return { scopes: scopesOfRoles(roles, switches), ...narrowedVisibility(userId ?? '', roles, switches) };
  }
}
