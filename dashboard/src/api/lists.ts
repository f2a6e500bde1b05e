import { hashKey, type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { loadStateOf } from './load-state';
import { retryInterval } from './query-client';

/** The API's largest page. */
export const PAGE_SIZE = 100;

interface PageParameters {
  readonly current_page: number;
  readonly page_size: number;
}

interface ListPage<Row> {
  readonly total: number;
  readonly data: readonly Row[];
  /** Some of what the list is made of is missing. */
  readonly is_partial?: boolean;
  /** Requests of all rows, also of those on other pages. */
  readonly requests?: number;
}

/** A list of any length, read by pages of a hundred while its table is scrolled. */
export interface ListQuery<Row> {
  /** While the last part changes, such as a filter, the previous rows stay. */
  readonly queryKey: QueryKey;
  readonly readPage: (page: PageParameters, signal: AbortSignal) => Promise<ListPage<Row>>;
  /** What tells two rows apart; absent for their id. */
  readonly idOf?: (row: Row) => string;
  /** How often it is read again, until the user scrolls past the first page. */
  readonly refreshMs?: number;
}

const isSameList = (one: QueryKey, other: QueryKey): boolean =>
  one.length === other.length && hashKey(one.slice(0, -1)) === hashKey(other.slice(0, -1));

/** The rows that are loaded, and what a `DataTable` needs to show and continue them. `scope`: the scope needed to read the list. */
export function useList<Row extends { readonly id: string }>(
  { queryKey, readPage, idOf, refreshMs }: ListQuery<Row>,
  scope: string,
) {
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => readPage({ current_page: pageParam, page_size: PAGE_SIZE }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ total }: ListPage<Row>, _pages, last) =>
      (last + 1) * PAGE_SIZE < total ? last + 1 : undefined,
    placeholderData: (previous, query) =>
      query && isSameList(query.queryKey, queryKey) ? previous : undefined,
    refetchInterval: (query) =>
      retryInterval(query) || ((query.state.data?.pages.length ?? 0) <= 1 && (refreshMs ?? false)),
  });
  const { data, fetchNextPage } = list;
  // Pages are counted from the newest row: one that appears meanwhile moves the others, so that a row comes twice.
  const rows = useMemo(
    () => [
      ...new Map(
        data?.pages.flatMap((page) => page.data).map((row) => [idOf ? idOf(row) : row.id, row]),
      ).values(),
    ],
    [data, idOf],
  );
  return {
    rows,
    pages: data?.pages,
    total: data?.pages.at(-1)?.total ?? 0,
    state: loadStateOf(list, scope),
    error: list.error,
    onEnd: list.hasNextPage && !list.isFetching ? () => void fetchNextPage() : undefined,
  };
}

/** A list that is read to its end, for choices that are searched in the browser. */
export function useWholeList<Row extends { readonly id: string }>(query: ListQuery<Row>, scope: string) {
  const list = useList(query, scope);
  const { onEnd } = list;
  useEffect(() => onEnd?.(), [onEnd]);
  return list;
}
