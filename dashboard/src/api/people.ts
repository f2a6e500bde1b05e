import { queryOptions } from '@tanstack/react-query';
import { client, dataOf } from './client';
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

/** The list's largest page. Longer lists show how many are missing. */
export const PAGE_SIZE = 100;
const page = { current_page: 0, page_size: PAGE_SIZE };

export const PEOPLE = 'people';

export const peopleQuery = queryOptions({
  queryKey: [PEOPLE, 'list'],
  queryFn: ({ signal }) => dataOf(client.GET('/v1/admin/users', { params: { query: page }, signal })),
});

export const invitesQuery = queryOptions({
  queryKey: [PEOPLE, 'invites'],
  queryFn: ({ signal }) =>
    dataOf(
      client.GET('/v1/admin/users/invites', { params: { query: { ...page, status: 'pending' } }, signal }),
    ),
});

export const membersQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: [PEOPLE, 'members', workspaceId],
    queryFn: ({ signal }) =>
      dataOf(
        client.GET('/v1/admin/workspaces/{workspaceId}/users', {
          params: { path: { workspaceId }, query: page },
          signal,
        }),
      ),
  });

export const ofPerson = (userId: string) => ({ params: { path: { userId } } });

export const changePerson = (userId: string, body: PersonChange) =>
  dataOf(client.PUT('/v1/admin/users/{userId}', { ...ofPerson(userId), body }));

export const removePerson = ({ id, email }: Person) =>
  dataOf(client.DELETE('/v1/admin/users/{userId}', { ...ofPerson(id), body: { email } }));

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
