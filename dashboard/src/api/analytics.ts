import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client, dataOf } from './client';
import { type LogConditions, type LogQuery, timeConditions } from './logs';
import type { StatusCount } from './result-points';

type Interval = 'minute' | 'hour' | 'day';

export interface GraphQuery extends LogQuery {
  readonly zone: string;
  /** The interval of points; several points make one bar. */
  readonly interval: Interval;
}

/** Analytics use another parameter name for the workspace than the list. */
export const scopeOf = ({ workspace, conditions, time }: LogQuery): LogConditions => ({
  ...timeConditions(time),
  ...conditions,
  workspace_slug: workspace,
});

interface Graph<Point, Summary> {
  readonly summary?: Summary;
  readonly data_points?: readonly (Point & { readonly timestamp?: string })[];
}

/** Response types of each graph, as the document describes them one by one. */
interface Graphs {
  readonly requests: Graph<{ readonly total?: number }, { readonly total?: number }>;
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
      // All graphs take the same parameters; one path represents all.
      const path = `/v1/analytics/graphs/${name}` as '/v1/analytics/graphs/requests';
      return await dataOf(client.GET(path, options));
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
