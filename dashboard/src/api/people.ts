import { client, dataOf } from './client';
import type { ListQuery } from './lists';
import type { paths } from './schema';

type Listed<Path extends '/v1/admin/users' | '/v1/admin/users/invites'> =
  paths[Path]['get']['responses'][200]['content']['application/json']['data'][number];
export type Person = Listed<'/v1/admin/users'>;
export type Invite = Listed<'/v1/admin/users/invites'>;
export type PersonChange = NonNullable<
  paths['/v1/admin/users/{userId}']['put']['requestBody']
>['content']['application/json'];
export type NewInvite =
  paths['/v1/admin/users/invites']['post']['requestBody']['content']['application/json'];
export type Member =
  paths['/v1/admin/workspaces/{workspaceId}/users']['get']['responses'][200]['content']['application/json']['data'][number];
export type WorkspaceRole = Member['role'];

export const PEOPLE = 'people';

export const peopleQuery: ListQuery<Person> = {
  queryKey: [PEOPLE, 'list'],
  readPage: (query, signal) => dataOf(client.GET('/v1/admin/users', { params: { query }, signal })),
};

export const ownersQuery: ListQuery<Person> = {
  queryKey: [PEOPLE, 'owners'],
  readPage: (page, signal) =>
    dataOf(client.GET('/v1/admin/users', { params: { query: { ...page, role: 'owner' } }, signal })),
};

export const invitesQuery: ListQuery<Invite> = {
  queryKey: [PEOPLE, 'invites'],
  readPage: (page, signal) =>
    dataOf(
      client.GET('/v1/admin/users/invites', { params: { query: { ...page, status: 'pending' } }, signal }),
    ),
};

export const membersQuery = (workspaceId: string): ListQuery<Member> => ({
  queryKey: [PEOPLE, 'members', workspaceId, 'list'],
  readPage: (query, signal) =>
    dataOf(
      client.GET('/v1/admin/workspaces/{workspaceId}/users', {
        params: { path: { workspaceId }, query },
        signal,
      }),
    ),
});

export const userPath = (userId: string) => ({ params: { path: { userId } } });

export const changePerson = (userId: string, body: PersonChange) =>
  dataOf(client.PUT('/v1/admin/users/{userId}', { ...userPath(userId), body }));

export const removePerson = ({ id, email }: Person) =>
  dataOf(client.DELETE('/v1/admin/users/{userId}', { ...userPath(id), body: { email } }));

export const createInvite = (body: NewInvite) => dataOf(client.POST('/v1/admin/users/invites', { body }));

const ofInvite = (inviteId: string) => ({ params: { path: { inviteId } } });

export const resendInvite = (inviteId: string) =>
  dataOf(client.POST('/v1/admin/users/invites/{inviteId}/resend', ofInvite(inviteId)));

export const revokeInvite = (inviteId: string) =>
  dataOf(client.DELETE('/v1/admin/users/invites/{inviteId}', { ...ofInvite(inviteId), body: {} }));

export const addMember = (workspaceId: string, user: { readonly id: string; readonly role: WorkspaceRole }) =>
  dataOf(
    client.POST('/v1/admin/workspaces/{workspaceId}/users', {
      params: { path: { workspaceId } },
      body: { users: [user] },
    }),
  );

/** A user in a workspace. */
export type Membership = Pick<Member, 'workspace_id' | 'id'>;

const ofMember = ({ workspace_id, id }: Membership) => ({
  params: { path: { workspaceId: workspace_id, userId: id } },
});

export const changeMember = (member: Membership, role: WorkspaceRole) =>
  dataOf(
    client.PUT('/v1/admin/workspaces/{workspaceId}/users/{userId}', { ...ofMember(member), body: { role } }),
  );

export const removeMember = (member: Membership) =>
  dataOf(
    client.DELETE('/v1/admin/workspaces/{workspaceId}/users/{userId}', { ...ofMember(member), body: {} }),
  );
