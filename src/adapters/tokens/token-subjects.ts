import { hash } from 'node:crypto';
import type { AuthorRole } from '../../auth/tokens/rules-author.js';
import type { KnownSubject, Membership, NamedByToken } from '../../auth/tokens/token-subject.js';
import type { OrganizationSettings } from '../../common/contracts/organization-settings.js';
import type { OrganizationRole } from '../../common/contracts/roles.js';
import type { ChangedResource, ChangeFeed } from '../../common/changes/change.js';
import type { Queryable } from '../../database/queryable.js';
import { normalizeEmail } from '../../common/http/normal-email.js';
import type { WorkspaceDefaults } from '../../routing-config/workspace-defaults.js';
import { inheritedPolicyOf, organizationPolicyOf } from '../directories/inherited-policy.js';
import type { Memory } from '../directories/snapshot/memory.js';
import { RefreshingCache } from '../directories/refreshing-cache.js';
import { isUuid } from '../../common/ids/uuid-v7.js';

interface TokenSubjectRow {
  readonly organization_id: string;
  readonly author_id: string | null;
  readonly author_role: AuthorRole;
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

/**
 * Two memberships suffice to detect a choice; that of the named workspace comes first. The author of the token rules is read with the
 * subject, so that a role taken from them binds the next verification of every token.
 */
const SUBJECT = `
  SELECT organization.id AS organization_id, organization.settings, organization.default_config_id, workspace.id AS workspace_id,
    workspace.default_config_id AS workspace_config_id, workspace.defaults AS workspace_defaults, person.id AS user_id, person.email, person.role,
    person.status = 'active' AS is_active, rules.author_id,
    CASE WHEN rules.author_id IS NULL THEN 'admin' ELSE author.role END AS author_role, (
    SELECT json_agg(json_build_object('workspaceId', workspace_id, 'role', role, 'configId', default_config_id,
      'defaults', defaults)) FROM (
      SELECT member.workspace_id, member.role, own.default_config_id, own.defaults
      FROM workspace_members member JOIN workspaces own ON own.id = member.workspace_id
      WHERE member.organization_id = $1 AND member.user_id = person.id
      ORDER BY (member.workspace_id = workspace.id) DESC NULLS LAST, member.workspace_id LIMIT 2
    ) AS first_two
  ) AS memberships
  FROM organizations organization
  LEFT JOIN organization_jwt rules ON rules.organization_id = organization.id
  LEFT JOIN users author ON author.organization_id = organization.id AND author.id = rules.author_id
    AND author.status = 'active'
  LEFT JOIN users person ON person.organization_id = organization.id
    AND (lower(person.email) = lower($2::text) OR person.id = $3::uuid)
  LEFT JOIN workspaces workspace ON workspace.organization_id = organization.id
    AND (workspace.slug = $4::text OR workspace.id = $5::uuid)
  WHERE organization.id = $1
  LIMIT 1`;

/** A change of one of these may change a subject. */
const CONCERNED: ReadonlySet<ChangedResource> = new Set(['organization', 'user', 'workspace']);

interface SubjectLookup {
  readonly organizationId: string;
  readonly user: string | null;
  readonly workspace: string | null;
}

interface SubjectRow {
  readonly row: TokenSubjectRow;
  readonly subject: KnownSubject;
}

const MINUTE_MS = 60_000;
/** Loaded for each token that is verified; the cached value serves only while the store is unavailable. */
const NEVER_FRESH = { softMs: 0, hardMs: 0 };
/** Users administer: without the database, their tokens work no longer than administrative keys. */
const PERSON_STALE_MS = 5 * MINUTE_MS;
const SUBJECTS_MAX = 10_000;

/** The users and workspaces that tokens name, from the organization's tables. */
export class TokenSubjects {
  private readonly cache: RefreshingCache<SubjectLookup, TokenSubjectRow, SubjectRow>;

  /** `staleMs`: how long cached subjects of workspace tokens are served while the database is unavailable. */
  constructor(
    private readonly database: Queryable,
    changes: ChangeFeed,
    staleMs: number,
  ) {
    this.cache = new RefreshingCache({
      load: (lookup) => this.load(lookup),
      open: (row) => ({ row, subject: subjectIn(row) }),
      question: SUBJECT,
      idOf: ({ row }) => row.organization_id,
      partsOf: ({ row }) => [row.user_id, row.workspace_id, row.author_id].filter((id) => id !== null),
      agesOf: ({ row }) => ({
        ...NEVER_FRESH,
        staleMs: row.user_id === null ? staleMs : Math.min(staleMs, PERSON_STALE_MS),
      }),
      maxFound: SUBJECTS_MAX,
    });
    changes.subscribe((change) => {
      if (change === null) this.cache.clear();
      else if (CONCERNED.has(change.resource)) this.cache.forget(change.id);
    });
  }

  get memory(): Memory {
    return this.cache;
  }

  /** Rejects with `auth_unavailable` when the store is unavailable and no subject is cached. */
  async of(organizationId: string, { user, workspace }: NamedByToken): Promise<KnownSubject> {
    const key = hash('sha256', JSON.stringify([organizationId, user, workspace]), 'hex');
    const found = await this.cache.find(key, { organizationId, user, workspace });
    return found?.subject ?? unknownSubject(organizationId);
  }

  private async load(lookup: SubjectLookup): Promise<TokenSubjectRow | null> {
    const { organizationId, user, workspace } = lookup;
    const email = user === null ? null : (normalizeEmail(user) ?? user);
    const named = [email, idOrNull(user), workspace, idOrNull(workspace)];
    const [row] = await this.database.query<TokenSubjectRow>(SUBJECT, [organizationId, ...named]);
    return row ?? null;
  }
}

function unknownSubject(organizationId: string): KnownSubject {
  return {
    ...{
      organizationId,
      author: null,
      policy: null,
      switches: null,
      configId: null,
      workspace: null,
      person: null,
    },
    imposed: () => ({}),
  };
}

function subjectIn(row: TokenSubjectRow): KnownSubject {
  return {
    organizationId: row.organization_id,
    author: row.author_role,
    policy: organizationPolicyOf(row.settings),
    switches: row.settings.security_settings ?? null,
    imposed: (defaults) => inheritedPolicyOf(row.settings, defaults),
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
}: TokenSubjectRow): KnownSubject['person'] {
  return id === null ? null : { id, email, role, isActive, memberships: memberships ?? [] };
}
