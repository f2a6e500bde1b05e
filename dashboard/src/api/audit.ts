import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query';
import { client, dataOf } from './client';
import type { paths } from './schema';

export type AuditRecord =
  paths['/v1/audit-logs']['get']['responses'][200]['content']['application/json']['records'][number];

export type ChainReport =
  paths['/v1/audit-logs/verify']['get']['responses'][200]['content']['application/json'];

/** Verifies the records after a number. The report contains where the next part begins. */
export const verifyPart = (after: number) =>
  dataOf(client.GET('/v1/audit-logs/verify', { params: { query: { after } } }));

/** A view's records, oldest first, as JSON Lines. A request instead of a link, so that a step-up can interrupt it. */
export const auditExport = ({ conditions, from, to }: AuditQuery): Promise<Blob> =>
  dataOf(
    client.GET('/v1/audit-logs/export', {
      params: { query: { ...conditions, start_time: from, ...(to && { end_time: to }) } },
      parseAs: 'blob',
    }),
  );

export interface AuditQuery {
  readonly conditions: Readonly<Record<string, string>>;
  readonly from: string;
  readonly to: string | undefined;
}

const PAGE_SIZE = 50;

/** Audit records, newest first, by pages. Pages are counted from 0. */
export const auditQuery = ({ conditions, from, to }: AuditQuery) =>
  infiniteQueryOptions({
    queryKey: ['audit', conditions, from, to],
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        client.GET('/v1/audit-logs', {
          params: {
            query: {
              ...conditions,
              start_time: from,
              ...(to && { end_time: to }),
              current_page: pageParam,
              page_size: PAGE_SIZE,
            },
          },
          signal,
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (page, _pages, last) => ((last + 1) * PAGE_SIZE < page.total ? last + 1 : undefined),
    placeholderData: keepPreviousData,
  });
