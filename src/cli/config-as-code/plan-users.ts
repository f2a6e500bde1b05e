import type { JsonRecord } from './administration-client.js';
import { type DeclaredChange, updated, created } from './change.js';
import type { DeclaredUser } from './document.js';
import type { PlanningContext } from './planning.js';

export const USERS = '/v1/admin/users';
export const INVITES = '/v1/admin/users/invites';

/** A membership as the administration shows it, of a user and of an invite. */
export interface ShownMembership {
  readonly id: string;
  readonly role: string;
}

/** The requests that give users their roles and memberships, and invite those who do not exist. */
export async function planUsers(
  planning: PlanningContext,
  declared: readonly (DeclaredUser | undefined)[],
): Promise<DeclaredChange[]> {
  if (declared.length === 0) return [];
  const users = byEmail(await planning.client.all(USERS));
  const invites = byEmail(await planning.client.all(`${INVITES}?status=pending`));
  const changes: DeclaredChange[] = [];
  for (const [index, user] of declared.entries()) {
    if (user === undefined) continue;
    const memberships = await membershipsOf(planning, user, index);
    const known = users.get(user.email);
    if (known) changes.push(...changesOfUser(planning, { user, index, known, memberships }));
    else changes.push(...invitesOf(user, memberships, invites.get(user.email)));
  }
  return changes;
}

const byEmail = (things: readonly JsonRecord[]): ReadonlyMap<unknown, JsonRecord> =>
  new Map(things.map((thing) => [thing.email, thing]));

/** A declared membership. `id` is null for a workspace that is created by the same file. */
interface PlannedMembership {
  readonly workspace: string;
  readonly id: string | null;
  readonly role: string;
}

async function membershipsOf(
  planning: PlanningContext,
  { workspaces = [] }: DeclaredUser,
  index: number,
): Promise<PlannedMembership[]> {
  const memberships: PlannedMembership[] = [];
  for (const [position, { workspace, role }] of workspaces.entries()) {
    const place = ['users', index, 'workspaces', position, 'workspace'];
    const id = await planning.idOf(workspace, place);
    if (id === undefined) continue;
    if (memberships.some((other) => (id ?? workspace) === (other.id ?? other.workspace)))
      planning.note(place, `names the workspace "${workspace}" twice`);
    memberships.push({ workspace, id, role });
  }
  return memberships;
}

interface PlannedUser {
  readonly user: DeclaredUser;
  readonly index: number;
  readonly known: JsonRecord;
  readonly memberships: readonly PlannedMembership[];
}

function changesOfUser(
  planning: PlanningContext,
  { user: { email, role }, index, known, memberships }: PlannedUser,
): DeclaredChange[] {
  if (known.role === 'owner') {
    planning.note(
      ['users', index, 'role'],
      `cannot be set: ${email} is an owner. Transfer the ownership first`,
    );
    return [];
  }
  const id = String(known.id);
  const shown = known.workspaces as readonly ShownMembership[];
  return [
    ...updated({ what: `user "${email}"`, path: `${USERS}/${id}` }, known, { role }),
    ...memberships.flatMap((membership) => {
      const current = shown.find((one) => one.id === membership.id);
      const what = `membership of "${email}" in the workspace "${membership.workspace}"`;
      if (!current) return [joining(what, id, membership)];
      return updated(
        { what, path: `${membersOf(current.id)}/${id}` },
        { ...current },
        { role: membership.role },
      );
    }),
  ];
}

const membersOf = (workspace: string): string => `/v1/admin/workspaces/${workspace}/users`;

function joining(what: string, userId: string, { workspace, id, role }: PlannedMembership): DeclaredChange {
  return {
    ...created(what, '', { role }),
    path: (idOf) => membersOf(id ?? idOf(workspace)),
    body: () => ({ users: [{ id: userId, role }] }),
  };
}

/** An open invite cannot be changed. One that differs is cancelled and sent again, and keeps its other workspaces. */
function invitesOf(
  { email, role }: DeclaredUser,
  memberships: readonly PlannedMembership[],
  current: JsonRecord | undefined,
): DeclaredChange[] {
  const what = `invite of "${email}"`;
  const had = (current?.workspaces ?? []) as readonly ShownMembership[];
  const others = had.filter(({ id }) => !memberships.some((membership) => membership.id === id));
  const nameOf = (id: string): string => memberships.find((each) => each.id === id)?.workspace ?? id;
  const rolesOf = (all: readonly ShownMembership[]): JsonRecord =>
    Object.fromEntries(all.map((each) => [nameOf(each.id), each.role]));
  const shown = {
    email,
    role,
    workspaces: rolesOf([
      ...others,
      ...memberships.map(({ workspace, id, role: workspaceRole }) => ({
        id: id ?? workspace,
        role: workspaceRole,
      })),
    ]),
  };
  const invite: DeclaredChange = {
    ...created(what, INVITES, shown),
    body: (idOf) => ({
      email,
      role,
      workspaces: [
        ...others,
        ...memberships.map(({ workspace, id, role: workspaceRole }) => ({
          id: id ?? idOf(workspace),
          role: workspaceRole,
        })),
      ],
    }),
  };
  if (!current) return [invite];
  const path = `${INVITES}/${String(current.id)}`;
  const now = { email, role: current.role, workspaces: rolesOf(had) };
  const cancelled = updated({ what: `${what}, which is cancelled`, path }, now, shown);
  if (cancelled.length === 0) return [];
  return [...cancelled.map((change) => ({ ...change, method: 'DELETE' as const, body: () => ({}) })), invite];
}
