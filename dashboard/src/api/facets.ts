import { queryOptions } from '@tanstack/react-query';
import { scopeOf } from './analytics';
import { client, dataOf } from './client';
import type { LogQuery } from './logs';
import type { paths } from './schema';

type FacetName = paths['/v1/analytics/facets/{field}']['get']['parameters']['path']['field'];

/** The parameters of the list with pre-aggregated values. */
const FACETS: readonly string[] = [
  'status_code',
  'model',
  'provider',
  'virtual_key',
  'api_key_id',
  'config',
  'endpoint',
  'cache_status',
] satisfies readonly FacetName[];

export const hasFacet = (parameter: string): parameter is FacetName => FACETS.includes(parameter);

/** The most frequent values of a parameter among the rows that match the other filters. */
export const facetQuery = (field: FacetName, query: LogQuery) => {
  const conditions = Object.fromEntries(
    Object.entries(query.conditions).filter(([name]) => name !== field && name !== `not_${field}`),
  );
  return queryOptions({
    queryKey: ['facet', field, { ...query, conditions }],
    queryFn: async ({ signal }) => {
      const params = { path: { field }, query: scopeOf({ ...query, conditions }) };
      const answer = await dataOf(client.GET('/v1/analytics/facets/{field}', { params, signal }));
      return answer.data;
    },
    staleTime: 30_000,
  });
};
