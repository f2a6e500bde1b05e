import type { OrganizationRole, WorkspaceRole } from '../../common/contracts/roles.js';
import { AppError } from '../../common/errors/app-error.js';
import { normalizeEmail } from '../../common/http/normal-email.js';
import type { Claims } from './compact-token.js';
import {
  DEFAULT_UNKNOWN_USER_RULES,
  type UnknownUserRules,
  type RoleMapping,
  type TokenRules,
} from './token-rules.js';

/** Roles given by role mappings. */
export interface GivenRoles {
  readonly role: 'admin' | 'member';
  /** Each workspace once, by id or slug as the organization named it. */
  readonly workspaces: ReadonlyMap<string, WorkspaceRole>;
}

/** The claims of a valid token about a user who does not exist in the organization yet. */
export interface JustInTimeUser extends GivenRoles {
  readonly organizationId: string;
  /** Normalized. */
  readonly email: string;
  /** The maximum number of users in the organization. */
  readonly mostPeople: number;
}

/** Not a refusal: the caller creates the user and retries. */
export class UnknownUserError extends Error {
  constructor(readonly user: JustInTimeUser) {
    super('The token names a person whom the organization does not know yet.');
    this.name = 'UnknownPerson';
  }
}

const MOST_VALUES = 200;
const RANK: Readonly<Record<OrganizationRole | WorkspaceRole, number>> = {
  member: 1,
  manager: 2,
  admin: 3,
  owner: 4,
};

interface UnknownUserClaims {
  readonly organizationId: string;
  readonly claims: Claims;
  readonly rules: TokenRules;
}

/**
 * For a token whose `user` does not exist in the organization. Throws an `UnknownPerson` if the user is to be created, and refuses with
 * `forbidden` if unknown users are refused; otherwise the token acts as a service.
 */
export function checkUnknown(user: string | null, unknownUser: UnknownUserClaims): void {
  const { unknownPeople } = unknownUser.rules.newcomers ?? DEFAULT_UNKNOWN_USER_RULES;
  const email = unknownPeople === 'create' ? normalizeEmail(user ?? '') : null;
  if (email !== null) throw new UnknownUserError(justInTimeUserOf(email, unknownUser));
  if (unknownPeople === 'refuse')
    throw new AppError('forbidden', { detail: 'the token names a user who is not in the organization' });
}

function justInTimeUserOf(
  email: string,
  { organizationId, claims, rules }: UnknownUserClaims,
): JustInTimeUser {
  const { mostPeople, ...mappings } = rules.newcomers ?? DEFAULT_UNKNOWN_USER_RULES;
  return {
    ...{ organizationId, email, mostPeople },
    ...rolesGiven(valuesIn(claims, rules.claims.roles ?? []), mappings),
  };
}

/** The roles that the organization maps to the values of a claim; the highest of several, and never above its ceiling. */
export function rolesGiven(
  values: ReadonlySet<string>,
  { roleMappings, highestRoles }: Pick<UnknownUserRules, 'roleMappings' | 'highestRoles'>,
): GivenRoles {
  const mappings = roleMappings.filter(({ value }) => values.has(value));
  const roles = mappings.map(({ organisationRole = 'member' }) => organisationRole);
  return {
    role: lower(roles.reduce<'admin' | 'member'>(higher, 'member'), highestRoles.organisation),
    workspaces: workspacesOf(mappings, highestRoles.workspace),
  };
}

function workspacesOf(mappings: readonly RoleMapping[], highest: WorkspaceRole): Map<string, WorkspaceRole> {
  const workspaces = new Map<string, WorkspaceRole>();
  for (const { workspace, workspaceRole = 'member' } of mappings)
    if (workspace !== undefined)
      workspaces.set(workspace, higher(workspaces.get(workspace) ?? 'member', lower(workspaceRole, highest)));
  return workspaces;
}

/** A text separated by blanks or commas, or a list. */
export function valuesIn(claims: Claims, names: readonly string[]): ReadonlySet<RoleMapping['value']> {
  const value = names.map((name) => claims[name]).find((each) => each !== undefined);
  const texts: readonly unknown[] =
    typeof value === 'string' ? [value, ...value.split(/[ ,]+/)] : Array.isArray(value) ? value : [];
  return new Set(texts.slice(0, MOST_VALUES).filter((text) => typeof text === 'string'));
}

const lower = <R extends OrganizationRole | WorkspaceRole>(one: R, other: R): R =>
  RANK[one] < RANK[other] ? one : other;
const higher = <R extends OrganizationRole | WorkspaceRole>(one: R, other: R): R =>
  RANK[one] > RANK[other] ? one : other;
