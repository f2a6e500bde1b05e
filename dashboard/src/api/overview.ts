import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { type GraphQuery, scopeOf } from './analytics';
import { client, dataOf } from './client';
import type { paths } from './schema';

export type Overview =
  paths['/v1/analytics/overview']['get']['responses'][200]['content']['application/json'];
export type OverviewPoint = Overview['data_points'][number];

/** All figures of the overview, and those of the previous period, in one request. */
export const overviewQuery = (query: GraphQuery) =>
  queryOptions({
    queryKey: ['overview', query],
    queryFn: ({ signal }) =>
      dataOf(
        client.GET('/v1/analytics/overview', {
          params: { query: { ...scopeOf(query), interval: query.interval, time_zone: query.zone } },
          signal,
        }),
      ),
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  });
