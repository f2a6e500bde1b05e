import { useQuery } from '@tanstack/react-query';
import { type GraphQuery, graphQuery } from './analytics';

/** Requests by result, from two graphs. From rollups, so a list beside it never waits. */
export function useResultPoints(query: GraphQuery) {
  const requests = useQuery(graphQuery('requests', query));
  const errors = useQuery(graphQuery('errors/stacks', query));
  return {
    points: { requests: requests.data?.data_points ?? [], errors: errors.data?.data_points ?? [] },
    total: requests.data?.summary?.total ?? null,
    error: requests.error ?? errors.error,
    isPending: requests.isPending || errors.isPending,
    refetch: () => Promise.all([requests.refetch(), errors.refetch()]),
  };
}
