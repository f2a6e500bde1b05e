import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client, dataOf } from './client';
import type { ListQuery } from './lists';
import type { paths } from './schema';

type ListPath = paths['/v1/api-keys']['get'];
export type ApiKey = ListPath['responses'][200]['content']['application/json']['data'][number];
export type UsageLimit = Exclude<NonNullable<ApiKey['usage_limits']>, readonly unknown[]>;
export type NewApiKey =
  paths['/v1/api-keys/workspace/service']['post']['requestBody']['content']['application/json'];
export type ApiKeyChange = NonNullable<
  paths['/v1/api-keys/{id}']['put']['requestBody']
>['content']['application/json'];

/** Filters of the list: parameters of `GET /v1/api-keys`. */
export type KeyConditions = Pick<
  NonNullable<ListPath['parameters']['query']>,
  'workspace_id' | 'type' | 'status' | 'name'
>;

/** First part of the names of all queries of API keys. */
export const API_KEYS = 'api-keys';

/** Newest first. */
export const apiKeysQuery = ({ workspace_id, ...filters }: KeyConditions): ListQuery<ApiKey> => ({
  queryKey: [API_KEYS, 'list', workspace_id, filters],
  readPage: (page, signal) => {
    const query = { ...(workspace_id && { workspace_id }), ...filters, ...page };
    return dataOf(client.GET('/v1/api-keys', { params: { query }, signal }));
  },
});

/** At most a hundred keys by their ids, with their last use if needed. */
export const keysByIdQuery = (ids: readonly string[], withUse = false) =>
  queryOptions({
    queryKey: [API_KEYS, withUse ? 'use' : 'by-id', ids],
    queryFn: async ({ signal }): Promise<readonly ApiKey[]> => {
      const query = {
        ids: ids.join(','),
        page_size: ids.length,
        ...(withUse && { include_last_used_at: true }),
      };
      return (await dataOf(client.GET('/v1/api-keys', { params: { query }, signal }))).data;
    },
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  });

/** A key with the tag of the state that was read, for changing it. */
export interface TaggedKey {
  readonly key: ApiKey;
  readonly etag: string | null;
}

/** Read anew whenever it is opened, so that a change begins with the saved state. */
export const apiKeyQuery = (id: string) =>
  queryOptions({
    queryKey: [API_KEYS, 'one', id],
    queryFn: async ({ signal }): Promise<TaggedKey> => {
      const call = client.GET('/v1/api-keys/{id}', { params: { path: { id } }, signal });
      return { key: await dataOf(call), etag: (await call).response.headers.get('etag') };
    },
    staleTime: 0,
    gcTime: 0,
  });

/** The owner of a key, as the address of its creation says it. */
export type KeyKind = 'workspace/service' | 'workspace/user' | 'organisation/service';

export const createApiKey = (kind: KeyKind, body: NewApiKey) =>
  dataOf(client.POST(`/v1/api-keys/${kind}` as '/v1/api-keys/workspace/service', { body }));

/** Refused with `precondition_failed` when `etag` is outdated. */
export const changeApiKey = ({ key: { id }, etag }: TaggedKey, body: ApiKeyChange) =>
  dataOf(
    client.PUT('/v1/api-keys/{id}', {
      params: { path: { id } },
      body,
      ...(etag !== null && { headers: { 'if-match': etag } }),
    }),
  );

export const revokeApiKey = (id: string) =>
  dataOf(client.DELETE('/v1/api-keys/{id}', { params: { path: { id } } }));

/** All of them, or none. */
export const revokeApiKeys = (ids: string[]) => dataOf(client.POST('/v1/api-keys/revoke', { body: { ids } }));

export const rotateApiKey = (id: string, transitionMs: number) =>
  dataOf(
    client.POST('/v1/api-keys/{id}/rotate', {
      params: { path: { id } },
      body: { key_transition_period_ms: transitionMs },
    }),
  );

/** A field with one limit or several, as a list. */
export const limitsOf = ({ usage_limits: limits }: Pick<ApiKey, 'usage_limits'>): readonly UsageLimit[] =>
  limits === null ? [] : Array.isArray(limits) ? limits : [limits];
