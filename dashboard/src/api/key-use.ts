import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client, dataOf } from './client';
import { pageOfKeys } from './keys';

/**
 * When each API key of a workspace was last used within 30 days, by id. Separate from the list, which appears without waiting for the
 * counts, even if they are unavailable.
 */
export const lastUseQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['api-key-use', workspace],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, string | null>> => {
      const query = { ...pageOfKeys(workspace), include_last_used_at: true };
      const { data } = await dataOf(client.GET('/v1/api-keys', { params: { query }, signal }));
      return new Map(data.map(({ id, last_used_at = null }) => [id, last_used_at]));
    },
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  });
