import { queryOptions } from '@tanstack/react-query';
import { client, dataOf } from './client';
import type { paths } from './schema';

export type Limit =
  paths['/v1/limits']['get']['responses'][200]['content']['application/json']['data'][number];

const PAGE_SIZE = 100;
const REFRESH_MS = 10_000;

/** Fullest first, up to a hundred. */
export const limitsQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['limits', workspace],
    queryFn: ({ signal }) =>
      dataOf(
        client.GET('/v1/limits', {
          params: { query: { workspace_id: workspace, current_page: 0, page_size: PAGE_SIZE } },
          signal,
        }),
      ),
    refetchInterval: REFRESH_MS,
  });

export const raiseLimit = (id: string, by: number) =>
  dataOf(client.POST('/v1/limits/{id}/raise', { params: { path: { id } }, body: { by } }));
