import { client, dataOf } from './client';
import type { ListQuery } from './lists';
import type { paths } from './schema';

export type Limit =
  paths['/v1/limits']['get']['responses'][200]['content']['application/json']['data'][number];

const REFRESH_MS = 10_000;

/** Fullest first. */
export const limitsQuery = (workspace: string): ListQuery<Limit> => ({
  queryKey: ['limits', workspace, 'list'],
  readPage: (page, signal) =>
    dataOf(client.GET('/v1/limits', { params: { query: { workspace_id: workspace, ...page } }, signal })),
});

/** The same list, read again every ten seconds. */
export const liveLimitsQuery = (workspace: string): ListQuery<Limit> => ({
  ...limitsQuery(workspace),
  refreshMs: REFRESH_MS,
});

export const raiseLimit = (id: string, by: number) =>
  dataOf(client.POST('/v1/limits/{id}/raise', { params: { path: { id } }, body: { by } }));
