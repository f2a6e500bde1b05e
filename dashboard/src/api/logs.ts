import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
} from '@tanstack/react-query';
import { client, dataOf } from './client';
import type { paths } from './schema';

type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;

export type LogPage = Answer<'/v1/logs'>;
export type LogRow = LogPage['data'][number];
export type LogDetail = Answer<'/v1/logs/{id}'>;
export type LogAttempt = LogDetail['attempts'][number];
export type LogBody = LogDetail['request'] | LogDetail['response'];

/** Filters of the list, the live stream and the charts: parameters of `GET /v1/logs`, as texts. */
export type LogConditions = Readonly<Record<string, string>>;

export interface LogQuery {
  readonly workspace: string;
  readonly conditions: LogConditions;
  /** Fixed times, or the number of minutes before the request. */
  readonly time: { readonly from: string; readonly to: string } | { readonly minutes: number };
}

const PAGE_SIZE = 50;
/** Pages kept in memory: 5,000 rows. Those at the other end are dropped, and reloaded by cursor. */
const MOST_PAGES = 100;

/** The start of a page. It includes the previous one, so that a dropped page can be reloaded. */
interface PagePlace {
  readonly cursor: string;
  /** Number of rows before it in the list. */
  readonly before: number;
  readonly previous: PagePlace | null;
}

const FIRST_PAGE: PagePlace = { cursor: '', before: 0, previous: null };
const MINUTE_MS = 60_000;

/** The current time conditions. A relative range has no end, so that it includes the newest requests. */
export function timeConditions(time: LogQuery['time']): LogConditions {
  if ('minutes' in time)
    return { time_of_generation_min: new Date(Date.now() - time.minutes * MINUTE_MS).toISOString() };
  return { time_of_generation_min: time.from, time_of_generation_max: time.to };
}

/** Newest first, by pages of 50. */
export const logsQuery = ({ workspace, conditions, time }: LogQuery) =>
  infiniteQueryOptions({
    queryKey: ['logs', workspace, conditions, time],
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        client.GET('/v1/logs', {
          params: {
            query: {
              ...timeConditions(time),
              ...conditions,
              workspace_id: workspace,
              page_size: PAGE_SIZE,
              ...(pageParam.cursor && { cursor: pageParam.cursor }),
            },
          },
          signal,
        }),
      ),
    initialPageParam: FIRST_PAGE,
    getNextPageParam: ({ data, next_cursor }, _pages, place): PagePlace | null =>
      next_cursor ? { cursor: next_cursor, before: place.before + data.length, previous: place } : null,
    getPreviousPageParam: (_page, _pages, place) => place.previous,
    maxPages: MOST_PAGES,
    // Once the first page is dropped, every page would be compared with its neighbour, field by field, and copied.
    structuralSharing: false,
    placeholderData: keepPreviousData,
  });

/** Reloads only the first page. Later pages are dropped; scrolling down reloads them. */
export async function readNewestLogs(queryClient: QueryClient, query: LogQuery): Promise<void> {
  const { queryKey } = logsQuery(query);
  queryClient.setQueryData(
    queryKey,
    (list) => list && { pages: list.pages.slice(0, 1), pageParams: [FIRST_PAGE] },
  );
  await queryClient.invalidateQueries({ queryKey, exact: true });
}

/** Number of rows before the kept pages, given their starts. */
export const rowsBefore = ([first]: readonly unknown[]): number =>
  (first as PagePlace | undefined)?.before ?? 0;

export const logQuery = (id: string) =>
  queryOptions({
    queryKey: ['log', id],
    queryFn: ({ signal }) => dataOf(client.GET('/v1/logs/{id}', { params: { path: { id } }, signal })),
    staleTime: Infinity,
  });

export const traceQuery = (traceId: string) =>
  queryOptions({
    queryKey: ['trace', traceId],
    queryFn: ({ signal }) =>
      dataOf(client.GET('/v1/logs/traces/{traceId}', { params: { path: { traceId } }, signal })),
  });
