import type { KnownSubject, Membership, NamedByToken } from '../../auth/tokens/token-subject.js';
import type { OrganizationSettings } from '../../common/contracts/organization-settings.js';
import type { OrganizationRole } from '../../common/contracts/roles.js';
import type { Queryable } from '../../common/database/queryable.js';
import { policyOf } from '../organization-policy.js';
import { isUuid } from '../../common/ids/uuid-v7.js';

interface Row {
  readonly settings: Partial<OrganizationSettings>;
  readonly default_config_id: string | null;
  readonly workspace_id: string | null;
  readonly workspace_config_id: string | null;
  readonly user_id: string | null;
  readonly email: string;
  readonly role: OrganizationRole;
  readonly is_active: boolean;
  readonly memberships: readonly Membership[] | null;
}

/** Two memberships are enough to know whether there is a choice; that of the named workspace comes first. */
const SUBJECT = `
  SELECT organization.settings, organization.default_config_id, workspace.id AS workspace_id,
    workspace.default_config_id AS workspace_config_id, person.id AS user_id, person.email, person.role,
    person.status = 'active' AS is_active, (
    SELECT json_agg(json_build_object('workspaceId', workspace_id, 'role', role, 'configId', default_config_id)) FROM (
      SELECT member.workspace_id, member.role, own.default_config_id
      FROM workspace_members member JOIN workspaces own ON own.id = member.workspace_id
      WHERE member.organization_id = $1 AND member.user_id = person.id
      ORDER BY (member.workspace_id = workspace.id) DESC NULLS LAST, member.workspace_id LIMIT 2
    ) AS first_two
  ) AS memberships
  FROM organizations organization
  LEFT JOIN users person ON person.organization_id = organization.id
    AND (lower(person.email) = lower($2::text) OR person.id = $3::uuid)
  LEFT JOIN workspaces workspace ON workspace.organization_id = organization.id
    AND (workspace.slug = $4::text OR workspace.id = $5::uuid)
  WHERE organization.id = $1
  LIMIT 1`;

/** What the organization's tables say of whom a token names. */
export async function subjectOf(
  database: Queryable,
  organizationId: string,
  { user, workspace }: NamedByToken,
): Promise<KnownSubject> {
  const [row] = await database.query<Row>(SUBJECT, [
    organizationId,
    user,
    user !== null && isUuid(user) ? user : null,
    workspace,
    workspace !== null && isUuid(workspace) ? workspace : null,
  ]);
  const person = row?.user_id
    ? {
        id: row.user_id,
        email: row.email,
        role: row.role,
        isActive: row.is_active,
        memberships: row.memberships ?? [],
      }
    : null;
  const settings = row?.settings ?? {};
  return {
    organizationId,
    policy: policyOf(settings),
    switches: settings.security_settings ?? null,
    configId: row?.default_config_id ?? null,
    workspace: row?.workspace_id
      ? { workspaceId: row.workspace_id, configId: row.workspace_config_id }
      : null,
    person,
  };
}
