import { queryOptions } from '@tanstack/react-query';
import { client, dataOf } from './client';
import type { paths } from './schema';

export type ApiKey =
  paths['/v1/api-keys']['get']['responses'][200]['content']['application/json']['data'][number];
export type UsageLimit = Exclude<NonNullable<ApiKey['usage_limits']>, readonly unknown[]>;
export type NewApiKey =
  paths['/v1/api-keys/workspace/service']['post']['requestBody']['content']['application/json'];
export type VirtualKey =
  paths['/v1/virtual-keys']['get']['responses'][200]['content']['application/json']['data'][number];
export type NewVirtualKey = paths['/v1/virtual-keys']['post']['requestBody']['content']['application/json'];

/** The list's largest page. Longer lists show how many are missing. */
const PAGE_SIZE = 100;

export const pageOfKeys = (workspace: string) => ({
  workspace_id: workspace,
  current_page: 0,
  page_size: PAGE_SIZE,
});

export const apiKeysQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['api-keys', workspace],
    queryFn: ({ signal }) =>
      dataOf(client.GET('/v1/api-keys', { params: { query: pageOfKeys(workspace) }, signal })),
  });

export const createApiKey = (kind: 'service' | 'user', body: NewApiKey) =>
  dataOf(client.POST(`/v1/api-keys/workspace/${kind}` as '/v1/api-keys/workspace/service', { body }));

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

export const virtualKeysQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['virtual-keys', workspace],
    queryFn: ({ signal }) =>
      dataOf(client.GET('/v1/virtual-keys', { params: { query: pageOfKeys(workspace) }, signal })),
  });

export const createVirtualKey = (body: NewVirtualKey) => dataOf(client.POST('/v1/virtual-keys', { body }));

export const deleteVirtualKey = (slug: string) =>
  dataOf(client.DELETE('/v1/virtual-keys/{slug}', { params: { path: { slug } } }));

/** A field with one limit or several, as a list. */
export const limitsOf = ({ usage_limits: limits }: Pick<ApiKey, 'usage_limits'>): readonly UsageLimit[] =>
  limits === null ? [] : Array.isArray(limits) ? limits : [limits];
