import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { type ApiKey, keysByIdQuery } from './keys';
import { PAGE_SIZE } from './lists';

const chunksOf = (ids: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(ids.length / PAGE_SIZE) }, (_, at) =>
    ids.slice(at * PAGE_SIZE, (at + 1) * PAGE_SIZE),
  );

type Results = readonly UseQueryResult<readonly ApiKey[]>[];
const found = (results: Results): readonly ApiKey[] => results.flatMap(({ data = [] }) => data);

const namesIn = (results: Results): ReadonlyMap<string, string> =>
  new Map(found(results).map(({ id, name }) => [id, name]));

/** Names of API keys by id, of any number. Those that are revoked or out of reach have none. */
export const useNamesOfKeys = (ids: readonly string[], isEnabled: boolean): ReadonlyMap<string, string> => {
  // Sorted, so that rows in another order need no other request.
  const sorted = [...new Set(ids)].sort();
  return useQueries({
    queries: chunksOf(sorted).map((chunk) => ({ ...keysByIdQuery(chunk), enabled: isEnabled })),
    combine: namesIn,
  });
};

/** When keys were last used within 30 days, by id; unknown ones are absent. */
export type LastUse = ReadonlyMap<string, string | null>;

const useIn = (results: Results): LastUse =>
  new Map(found(results).map(({ id, last_used_at = null }) => [id, last_used_at]));

/** Separate from the list, which appears without waiting for the counts, even if they are unavailable. */
export const useLastUse = (
  pages: readonly { readonly data: readonly { readonly id: string }[] }[] = [],
): LastUse =>
  useQueries({
    queries: pages
      .filter(({ data }) => data.length > 0)
      .map(({ data }) =>
        keysByIdQuery(
          data.map(({ id }) => id),
          true,
        ),
      ),
    combine: useIn,
  });
