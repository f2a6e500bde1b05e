import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client, dataOf } from './client';

const DAY_MS = 86_400_000;
const DAYS = 30;
const MOST_GROUPS = 100;

/** When each API key of a workspace was last used, by its id: from rollups, of the last 30 days. */
export const lastUseQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['api-key-use', workspace],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
      const query = {
        workspace_slug: workspace,
        columns: 'requests,last_seen',
        order_by: 'last_seen',
        order_by_type: 'desc' as const,
        time_of_generation_min: new Date(Date.now() - DAYS * DAY_MS).toISOString(),
        page_size: MOST_GROUPS,
      };
      const params = { path: { groupBy: 'api_key' as const }, query };
      const { data } = await dataOf(client.GET('/v1/analytics/groups/{groupBy}', { params, signal }));
      const groups = (data ?? []) as unknown as readonly { api_key: string; last_seen: string | null }[];
      return new Map(groups.flatMap(({ api_key, last_seen }) => (last_seen ? [[api_key, last_seen]] : [])));
    },
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  });
