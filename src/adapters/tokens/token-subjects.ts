import type { KnownSubject, Membership, NamedByToken } from '../../auth/tokens/token-subject.js';
import type { OrganizationSettings } from '../../common/contracts/organization-settings.js';
import type { OrganizationRole } from '../../common/contracts/roles.js';
import type { Queryable } from '../../common/database/queryable.js';
import { normalizeEmail } from '../../common/http/normal-email.js';
import type { WorkspaceDefaults } from '../../common/contracts/workspace-defaults.js';
import { imposedBy } from '../imposed.js';
import { policyOf } from '../organization-policy.js';
import { isUuid } from '../../common/ids/uuid-v7.js';

interface Row {
  readonly settings: Partial<OrganizationSettings>;
  readonly default_config_id: string | null;
  readonly workspace_id: string | null;
  readonly workspace_config_id: string | null;
  readonly workspace_defaults: WorkspaceDefaults | null;
  readonly user_id: string | null;
  readonly email: string;
  readonly role: OrganizationRole;
  readonly is_active: boolean;
  readonly memberships: readonly Membership[] | null;
}

/** Two memberships are enough to know whether there is a choice; that of the named workspace comes first. */
const SUBJECT = `
  SELECT organization.settings, organization.default_config_id, workspace.id AS workspace_id,
    workspace.default_config_id AS workspace_config_id, workspace.defaults AS workspace_defaults, person.id AS user_id, person.email, person.role,
    person.status = 'active' AS is_active, (
    SELECT json_agg(json_build_object('workspaceId', workspace_id, 'role', role, 'configId', default_config_id,
      'defaults', defaults)) FROM (
      SELECT member.workspace_id, member.role, own.default_config_id, own.defaults
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
  const email = user === null ? null : (normalizeEmail(user) ?? user);
  const named = [email, idOrNull(user), workspace, idOrNull(workspace)];
  const [row] = await database.query<Row>(SUBJECT, [organizationId, ...named]);
  if (!row)
    return {
      ...{ organizationId, policy: null, switches: null, configId: null, workspace: null, person: null },
      imposed: () => ({}),
    };
  return {
    organizationId,
    policy: policyOf(row.settings),
    switches: row.settings.security_settings ?? null,
    imposed: (defaults) => imposedBy(row.settings, defaults),
    configId: row.default_config_id,
    workspace: row.workspace_id
      ? {
          workspaceId: row.workspace_id,
          configId: row.workspace_config_id,
          defaults: row.workspace_defaults ?? {},
        }
      : null,
    person: personIn(row),
  };
}

const idOrNull = (text: string | null): string | null => (text !== null && isUuid(text) ? text : null);

function personIn({
  user_id: id,
  email,
  role,
  is_active: isActive,
  memberships,
}: Row): KnownSubject['person'] {
  return id === null ? null : { id, email, role, isActive, memberships: memberships ?? [] };
}
