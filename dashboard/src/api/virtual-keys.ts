import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client, dataOf } from './client';
import type { ListQuery } from './lists';
import type { paths } from './schema';

export type VirtualKey =
  paths['/v1/virtual-keys']['get']['responses'][200]['content']['application/json']['data'][number];
export type NewVirtualKey = paths['/v1/virtual-keys']['post']['requestBody']['content']['application/json'];
export type CatalogProvider =
  paths['/v1/provider-catalog']['get']['responses'][200]['content']['application/json']['data'][number];
export type CredentialTest =
  paths['/v1/virtual-keys/test']['post']['responses'][200]['content']['application/json'];
export type UnsavedCredential =
  paths['/v1/virtual-keys/test']['post']['requestBody']['content']['application/json'];
export type VirtualKeyChange = NonNullable<
  paths['/v1/virtual-keys/{slug}']['put']['requestBody']
>['content']['application/json'];
export type VirtualKeyCopy =
  paths['/v1/virtual-keys/{slug}/copy']['post']['requestBody']['content']['application/json'];

/** The account settings of each provider. They change only with the server's version. */
export const catalogQuery = queryOptions({
  queryKey: ['provider-catalog'],
  queryFn: async ({ signal }): Promise<readonly CatalogProvider[]> =>
    (await dataOf(client.GET('/v1/provider-catalog', { signal }))).data,
  staleTime: Infinity,
});

export const virtualKeysQuery = (workspace: string): ListQuery<VirtualKey> => ({
  queryKey: ['virtual-keys', workspace, 'list'],
  readPage: (page, signal) =>
    dataOf(
      client.GET('/v1/virtual-keys', { params: { query: { workspace_id: workspace, ...page } }, signal }),
    ),
});

export const createVirtualKey = (body: NewVirtualKey) => dataOf(client.POST('/v1/virtual-keys', { body }));

export const deleteVirtualKey = (slug: string) =>
  dataOf(client.DELETE('/v1/virtual-keys/{slug}', { params: { path: { slug } } }));

export const updateVirtualKey = (slug: string, body: VirtualKeyChange) =>
  dataOf(client.PUT('/v1/virtual-keys/{slug}', { params: { path: { slug } }, body }));

export const copyVirtualKey = (slug: string, body: VirtualKeyCopy) =>
  dataOf(client.POST('/v1/virtual-keys/{slug}/copy', { params: { path: { slug } }, body }));

export const testVirtualKey = (slug: string) =>
  dataOf(client.POST('/v1/virtual-keys/{slug}/test', { params: { path: { slug } } }));

export const testCredential = (body: UnsavedCredential) =>
  dataOf(client.POST('/v1/virtual-keys/test', { body }));

/** Success of a virtual key's requests, without those that the gateway refused: they say nothing about the provider. */
export interface KeyHealth {
  readonly requests: number;
  /** Percent; null without requests. */
  readonly success_rate: number | null;
  readonly p50_latency: number;
}

type KeyCounts = KeyHealth & { readonly provider: VirtualKey['slug']; readonly refusal_count: number };

const DAY_MS = 86_400_000;
const MOST_GROUPS = 100;

/** The last 24 hours by virtual key, from rollups. */
export const virtualKeyHealthQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['virtual-key-health', workspace],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, KeyHealth>> => {
      const query = {
        workspace_slug: workspace,
        columns: 'requests,refusal_count,success_rate,p50_latency',
        time_of_generation_min: new Date(Date.now() - DAY_MS).toISOString(),
        page_size: MOST_GROUPS,
      };
      const params = { path: { groupBy: 'provider' as const }, query };
      const response = await dataOf(client.GET('/v1/analytics/groups/{groupBy}', { params, signal }));
      // Only groups that rollups lack are counted by a job.
      const groups = ('data' in response ? response.data : []) as unknown as readonly KeyCounts[];
      return new Map(
        groups.map((group) => [group.provider, { ...group, requests: group.requests - group.refusal_count }]),
      );
    },
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  });
