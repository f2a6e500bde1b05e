import type { OrganizationRole, WorkspaceRole } from '../../common/contracts/roles.js';
import type { Claims } from './compact-token.js';
import type { HighestRoles, RoleMapping, TokenRules } from './token-rules.js';

/** What a token that may be believed says of a person whom the organization does not know yet. */
export interface Newcomer {
  readonly organizationId: string;
  /** In its one spelling. */
  readonly email: string;
  readonly role: OrganizationRole;
  /** Each workspace once, by id or slug as the organization named it. */
  readonly workspaces: ReadonlyMap<string, WorkspaceRole>;
  /** How many people the organization takes. */
  readonly mostPeople: number;
}

/** Not a refusal: who hears it makes the person, and asks again. */
export class UnknownPerson extends Error {
  constructor(readonly newcomer: Newcomer) {
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

/** The roles that the organization gives for what the claim says; of several the highest, and never above its ceiling. */
export function newcomerOf(
  organizationId: string,
  email: string,
  claims: Claims,
  rules: TokenRules,
): Newcomer {
  const { newcomers } = rules;
  const highest: HighestRoles = newcomers?.highestRoles ?? { organisation: 'member', workspace: 'member' };
  const said = valuesIn(claims, rules.claims.roles ?? []);
  const mappings = (newcomers?.roleMappings ?? []).filter(({ value }) => said.has(value));
  const workspaces = new Map<string, WorkspaceRole>();
  for (const { workspace, workspaceRole } of mappings)
    if (workspace !== undefined)
      workspaces.set(
        workspace,
        higher(workspaces.get(workspace) ?? 'member', lower(workspaceRole ?? 'member', highest.workspace)),
      );
  return {
    organizationId,
    email,
    role: mappings.reduce<OrganizationRole>(
      (role, { organisationRole }) => higher(role, lower(organisationRole ?? 'member', highest.organisation)),
      'member',
    ),
    workspaces,
    mostPeople: newcomers?.mostPeople ?? 0,
  };
}

/** A text with blanks or commas between, or a list. */
function valuesIn(claims: Claims, names: readonly string[]): ReadonlySet<RoleMapping['value']> {
  const value = names.map((name) => claims[name]).find((each) => each !== undefined);
  const texts: readonly unknown[] =
    typeof value === 'string' ? [value, ...value.split(/[ ,]+/)] : Array.isArray(value) ? value : [];
  return new Set(texts.slice(0, MOST_VALUES).filter((text) => typeof text === 'string'));
}

const lower = <R extends OrganizationRole | WorkspaceRole>(one: R, other: R): R =>
  RANK[one] < RANK[other] ? one : other;
const higher = <R extends OrganizationRole | WorkspaceRole>(one: R, other: R): R =>
  RANK[one] > RANK[other] ? one : other;
