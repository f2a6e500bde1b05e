import { queryOptions } from '@tanstack/react-query';
import { client, dataOf } from './client';
import type { ListQuery } from './lists';
import type { paths } from './schema';

type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;

export type ConfigRow = Answer<'/v1/configs'>['data'][number];
export type Config = Answer<'/v1/configs/{slug}'>['data'];
/** A config with the tag of the version that was read, for changing it. */
export type TaggedConfig = Config & { readonly etag: string | null };
export type ConfigVersion = Answer<'/v1/configs/{slug}/versions'>['data'][number];
export type Simulation =
  paths['/v1/configs/simulate']['post']['responses'][200]['content']['application/json']['data'];
export type SimulatedRequest = Omit<
  paths['/v1/configs/simulate']['post']['requestBody']['content']['application/json'],
  'config' | 'workspace_id'
>;
export type Document = Readonly<Record<string, unknown>>;

const at = (slug: string) => ({ path: { slug } });

export const configsQuery = (workspace: string): ListQuery<ConfigRow> => ({
  queryKey: ['configs', 'list', workspace, 'all'],
  readPage: (page, signal) =>
    dataOf(client.GET('/v1/configs', { params: { query: { workspace_id: workspace, ...page } }, signal })),
});

async function readConfig(slug: string, signal: AbortSignal): Promise<TaggedConfig> {
  const call = client.GET('/v1/configs/{slug}', { params: at(slug), signal });
  const { data } = await dataOf(call);
  return { ...data, etag: (await call).response.headers.get('etag') };
}

export const configQuery = (slug: string) =>
  queryOptions({
    queryKey: ['configs', 'one', slug],
    queryFn: ({ signal }) => readConfig(slug, signal),
  });

// All versions have the id of their config.
const versionIdOf = ({ version_id }: ConfigVersion): string => version_id;

export const configVersionsQuery = (slug: string): ListQuery<ConfigVersion> => ({
  queryKey: ['configs', 'versions', slug, 'all'],
  idOf: versionIdOf,
  readPage: (query, signal) =>
    dataOf(client.GET('/v1/configs/{slug}/versions', { params: { ...at(slug), query }, signal })),
});

export const configUsageQuery = (slug: string) =>
  queryOptions({
    queryKey: ['configs', 'usage', slug],
    queryFn: ({ signal }) => dataOf(client.GET('/v1/configs/{slug}/usage', { params: at(slug), signal })),
  });

export const createConfig = async (workspace: string, name: string, config: Document): Promise<string> => {
  const { data } = await dataOf(
    client.POST('/v1/configs', { body: { name, config, workspace_id: workspace } }),
  );
  return data.slug ?? '';
};

/** Saves a new version. Refused with `precondition_failed` when `etag` is outdated. */
export const saveConfig = ({ slug, etag }: TaggedConfig, config: Document) =>
  dataOf(
    client.PUT('/v1/configs/{slug}', {
      params: at(slug),
      body: { config },
      ...(etag !== null && { headers: { 'if-match': etag } }),
    }),
  );

/** The server's validation of a document: nothing is saved, and the error names every mistake. */
export const checkConfig = (slug: string, config: Document, signal: AbortSignal) =>
  dataOf(
    client.PUT('/v1/configs/{slug}', {
      params: { ...at(slug), query: { dry_run: true } },
      body: { config },
      signal,
    }),
  );

export const rollBackConfig = (slug: string, versionId: string) =>
  dataOf(client.POST('/v1/configs/{slug}/rollback', { params: at(slug), body: { version_id: versionId } }));

export const deleteConfig = (slug: string) =>
  dataOf(client.DELETE('/v1/configs/{slug}', { params: at(slug) }));

/** Simulates a request with a document. Nothing is sent. */
export const simulateConfig = async (
  workspace: string,
  config: Document,
  request: SimulatedRequest,
): Promise<Simulation> =>
  (
    await dataOf(
      client.POST('/v1/configs/simulate', { body: { ...request, config, workspace_id: workspace } }),
    )
  ).data;
