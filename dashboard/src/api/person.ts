import { queryOptions } from '@tanstack/react-query';
import { client, dataOf } from './client';
import type { ApiKey } from './keys';
import type { ListQuery } from './lists';
import { userPath, PEOPLE } from './people';
import type { paths } from './schema';

export type PersonSession =
  paths['/v1/admin/users/{userId}/sessions']['get']['responses'][200]['content']['application/json']['data'][number];

/** One user with their workspaces and roles. */
export const personQuery = (id: string) =>
  queryOptions({
    queryKey: [PEOPLE, 'one', id],
    queryFn: ({ signal }) => dataOf(client.GET('/v1/admin/users/{userId}', { ...userPath(id), signal })),
  });

export const personSessionsQuery = (id: string) =>
  queryOptions({
    queryKey: [PEOPLE, 'sessions', id],
    queryFn: ({ signal }) =>
      dataOf(client.GET('/v1/admin/users/{userId}/sessions', { ...userPath(id), signal })),
  });

export const signInMethodsQuery = (id: string) =>
  queryOptions({
    queryKey: [PEOPLE, 'sign-in-methods', id],
    queryFn: ({ signal }) =>
      dataOf(client.GET('/v1/admin/users/{userId}/sign-in-methods', { ...userPath(id), signal })),
  });

/** The API keys of the user in all workspaces. */
export const personKeysQuery = (id: string): ListQuery<ApiKey> => ({
  queryKey: [PEOPLE, 'keys', id, 'list'],
  readPage: (page, signal) => {
    const query = { user_id: id, include_last_used_at: true, ...page };
    return dataOf(client.GET('/v1/api-keys', { params: { query }, signal }));
  },
});

export const endPersonSession = (userId: string, sessionId: string) =>
  dataOf(
    client.DELETE('/v1/admin/users/{userId}/sessions/{sessionId}', {
      params: { path: { userId, sessionId } },
    }),
  );

export const endPersonSessions = (id: string) =>
  dataOf(client.DELETE('/v1/admin/users/{userId}/sessions', userPath(id)));

/** Authenticator app, recovery codes and passkeys. */
export const removeSecondFactors = (id: string) =>
  dataOf(client.DELETE('/v1/admin/users/{userId}/second-factors', userPath(id)));
