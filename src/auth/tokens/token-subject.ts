import {
  administersOrganization,
  keysWithin,
  narrowedVisibility,
  scopesOfRoles,
} from '../permissions/roles.js';
import type { OrganizationRole, WorkspaceRole } from '../../common/contracts/roles.js';
import type { PolicyFlags } from '../../common/contracts/organization-settings.js';
import type { OrganizationPolicy, Principal } from '../principal.js';
import { isScope, type Scope, SCOPES } from '../scopes.js';
import type { WorkspaceDefaults } from '../../routing-config/workspace-defaults.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Claims } from './compact-token.js';
import type { AuthorRole } from './rules-author.js';
import type { ClaimNames } from './token-rules.js';
import { isText } from './verify-token.js';

/** The user, workspace and scopes that a token's claims name. */
export interface NamedByToken {
  /** Email address or id of a user, or the name of a service. */
  readonly user: string | null;
  /** Id or slug. */
  readonly workspace: string | null;
  /** Null without such a claim: a user then has the scopes of their roles. */
  readonly scopes: ReadonlySet<Scope> | null;
}

/** A workspace, and the config for its requests. */
export interface NamedWorkspace {
  readonly workspaceId: string;
  readonly configId: string | null;
  readonly defaults: WorkspaceDefaults;
}

export interface Membership extends NamedWorkspace {
  readonly role: WorkspaceRole;
}

/** The organization's records for the names in a token. */
export interface KnownSubject {
  readonly organizationId: string;
  readonly author: AuthorRole;
  readonly policy: OrganizationPolicy | null;
  readonly switches: PolicyFlags | null;
  /** Defaults for every request of a workspace. */
  readonly imposed: (
    defaults: WorkspaceDefaults | null,
  ) => Pick<Principal, 'guardrails' | 'metadata' | 'cache'>;
  /** The config of workspaces without their own. */
  readonly configId: string | null;
  /** The workspace that the token names, if it exists. */
  readonly workspace: NamedWorkspace | null;
  readonly person: {
    readonly id: string;
    readonly email: string;
    readonly role: OrganizationRole;
    readonly isActive: boolean;
    /** At most two, the named workspace first: more make no difference. */
    readonly memberships: readonly Membership[];
  } | null;
}

const SCOPE_PREFIX = /^portkey\./;
const MOST_SCOPES = 500;

/** Whether the claims name this organization. */
export function namesOrganization(claims: Claims, names: ClaimNames, organizationId: string): boolean {
  const named = first(claims, names.organisation);
  return named !== null && named.toLowerCase() === organizationId;
}

export function namedBy(claims: Claims, names: ClaimNames): NamedByToken {
  return {
    user: first(claims, names.user),
    workspace: first(claims, names.workspace),
    scopes: scopesIn(claims, names.scopes),
  };
}

function first(claims: Claims, names: readonly string[]): string | null {
  const value = names.map((name) => claims[name]).find((each) => each !== undefined);
  return isText(value) ? value : null;
}

/** A text separated by blanks, or a list. Values that are not our scopes, including wildcards, grant nothing. */
function scopesIn(claims: Claims, names: readonly string[]): ReadonlySet<Scope> | null {
  const value = names.map((name) => claims[name]).find((each) => each !== undefined);
  if (value === undefined) return null;
  const texts: readonly unknown[] =
    typeof value === 'string' ? value.split(/[ ,]+/) : Array.isArray(value) ? value : [];
  const scopes = texts.slice(0, MOST_SCOPES).filter((text) => typeof text === 'string');
  return new Set(scopes.map((text) => text.replace(SCOPE_PREFIX, '')).filter(isScope));
}

/**
 * The principal of a token. With a known user it is that user, with the roles stored here, which a claim can narrow but never widen.
 * Without one it acts for a workspace like a service key of the rules' author. Null when it names neither. Rejects with `forbidden` if it names a workspace that
 * it cannot access.
 */
export function principalOfToken(named: NamedByToken, known: KnownSubject): Principal | null {
  if (named.workspace !== null && known.workspace === null) throw noSuchWorkspace();
  return known.person ? personOf(named, known, known.person) : workspaceTokenOf(named, known);
}

function workspaceTokenOf({ user, scopes }: NamedByToken, known: KnownSubject): Principal | null {
  const { organizationId, workspace, policy, author } = known;
  if (workspace === null || author === null) return null;
  const allowed = scopesOfRoles({ organization: author, workspace: null }, known.switches);
  return {
    kind: 'workspace_token',
    apiKeyId: null,
    name: user ?? 'signed token',
    organizationId,
    workspaceId: workspace.workspaceId,
    userId: null,
    authorityId: null,
    policy,
    routing: routingOf(known, workspace),
    scopes: new Set([...(scopes ?? [])].filter((scope) => SCOPES[scope].service && allowed.has(scope))),
    ...known.imposed(workspace.defaults),
  };
}

type Person = NonNullable<KnownSubject['person']>;

/**
 * The principal of a session: its user in the named workspace, or else in the only one or, for administrators, in all of them. A user with
 * no workspace, or a choice of several, has no scopes. Null when the user no longer exists.
 */
export function sessionPrincipalOf(workspace: string | null, known: KnownSubject): Principal | null {
  const { person } = known;
  if (person === null) return null;
  if (workspace !== null || hasOneReach(person))
    return principalOfToken({ user: person.id, workspace, scopes: null }, known);
  return personIn(person, null, known);
}

/** Whether the scope of a request that names no workspace is unambiguous. */
export const hasOneReach = ({ role, memberships }: Person): boolean =>
  administersOrganization({ organization: role, workspace: null }) || memberships.length === 1;

function personOf({ scopes }: NamedByToken, known: KnownSubject, person: Person): Principal {
  if (!person.isActive) throw new AppError('forbidden', { detail: 'the user was deactivated' });
  const workspace = known.workspace ?? onlyWorkspaceOf(person);
  const principal = personIn(person, workspace, known);
  return scopes
    ? { ...principal, scopes: new Set([...scopes].filter((scope) => principal.scopes.has(scope))) }
    : principal;
}

function personIn(person: Person, workspace: NamedWorkspace | null, known: KnownSubject): Principal {
  const membership = person.memberships.find((each) => each.workspaceId === workspace?.workspaceId);
  const roles = { organization: person.role, workspace: membership?.role ?? null };
  if (workspace && !membership && !administersOrganization(roles)) throw noSuchWorkspace();
  return {
    kind: 'person',
    apiKeyId: null,
    name: person.email,
    organizationId: known.organizationId,
    workspaceId: workspace?.workspaceId ?? null,
    userId: person.id,
    authorityId: person.id,
    policy: known.policy,
    routing: routingOf(known, workspace),
    ...narrowedVisibility(person.id, roles, known.switches),
    scopes: scopesOfRoles(roles, known.switches),
    ...keysWithin(roles),
    ...imposedIn(known, workspace),
  };
}

/** Null stands for every workspace, which only administrators of the organization can access. */
function onlyWorkspaceOf({ role, memberships }: Person): NamedWorkspace | null {
  if (administersOrganization({ organization: role, workspace: null })) return null;
  if (memberships.length > 1)
    throw new AppError('forbidden', {
      detail: 'the user belongs to several workspaces, so the token must name one',
    });
  const [only] = memberships;
  if (!only) throw noSuchWorkspace();
  return only;
}

function imposedIn(
  known: KnownSubject,
  workspace: NamedWorkspace | null,
): ReturnType<KnownSubject['imposed']> {
  return known.imposed(workspace?.defaults ?? null);
}

function routingOf(known: KnownSubject, workspace: NamedWorkspace | null): Principal['routing'] {
  const configId = workspace?.configId ?? known.configId;
  return configId === null ? undefined : { configId, allowsOverride: true };
}

/** The same error for a workspace that does not exist, is another organization's, or is closed to this user. */
const noSuchWorkspace = (): AppError =>
  new AppError('forbidden', { detail: 'the workspace does not exist, or the user is not a member of it' });
