import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client, dataOf } from './client';
import { type LogConditions, type LogQuery, timeConditions } from './logs';

type Interval = 'minute' | 'hour' | 'day';

export interface GraphQuery extends LogQuery {
  readonly zone: string;
  /** One point for each of these; several points make one bar. */
  readonly interval: Interval;
}

/** Analytics name the workspace otherwise than the list does. */
const scopeOf = ({ workspace, conditions, time }: LogQuery): LogConditions => ({
  ...timeConditions(time),
  ...conditions,
  workspace_slug: workspace,
});

interface Graph<Point, Summary> {
  readonly summary?: Summary;
  readonly data_points?: readonly (Point & { readonly timestamp?: string })[];
}

export interface StatusCount {
  readonly status_code?: number;
  readonly count?: number;
}

/** What each graph answers. The shapes are those of the document, which describes every graph one by one. */
interface Graphs {
  readonly requests: Graph<{ readonly total?: number }, { readonly total?: number }>;
  readonly cost: Graph<{ readonly total?: number }, { readonly total?: number }>;
  readonly errors: Graph<{ readonly total?: number }, { readonly total?: number }>;
  readonly latency: Graph<
    { readonly p50?: number; readonly p95?: number },
    { readonly p50?: number; readonly p95?: number }
  >;
  readonly 'errors/stacks': Graph<{ readonly stats?: readonly StatusCount[] }, { readonly total?: number }>;
}

/** A measure over time, from rollups. */
export const graphQuery = <Name extends keyof Graphs>(name: Name, query: GraphQuery) =>
  queryOptions({
    queryKey: ['graph', name, query],
    queryFn: async ({ signal }): Promise<Graphs[Name]> => {
      const options = {
        params: { query: { ...scopeOf(query), interval: query.interval, time_zone: query.zone } },
        signal,
      };
      // All graphs take the same parameters; the path of one stands for all.
      const path = `/v1/analytics/graphs/${name}` as '/v1/analytics/graphs/requests';
      return await dataOf(client.GET(path, options));
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });

export type GroupBy = 'ai-models' | 'api_key' | 'status_code' | 'provider';

export interface Group {
  readonly requests?: number;
  readonly cost?: number;
  readonly error_count?: number;
  readonly ai_model?: string;
  readonly api_key?: string;
  readonly status_code?: number | string;
  readonly provider?: string;
}

/** The largest groups of a range, by one of their columns. */
export const groupsQuery = (groupBy: GroupBy, query: LogQuery, orderBy: 'cost' | 'requests') =>
  queryOptions({
    queryKey: ['groups', groupBy, query, orderBy],
    queryFn: async ({ signal }): Promise<readonly Group[]> => {
      const answer = await dataOf(
        client.GET('/v1/analytics/groups/{groupBy}', {
          params: {
            path: { groupBy },
            query: {
              ...scopeOf(query),
              columns: 'requests,cost',
              order_by: orderBy,
              order_by_type: 'desc',
              page_size: 5,
            },
          },
          signal,
        }),
      );
      return (answer.data ?? []) as readonly Group[];
    },
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  });
