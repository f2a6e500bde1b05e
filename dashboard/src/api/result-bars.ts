import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type GraphQuery, graphQuery } from './analytics';
import { resultPointsOf } from './result-points';

/** Requests by result, from two graphs. From rollups, so a list beside it never waits. */
export function useResultPoints(query: GraphQuery) {
  const requests = useQuery(graphQuery('requests', query));
  const errors = useQuery(graphQuery('errors/stacks', query));
  const points = useMemo(
    () => resultPointsOf(requests.data?.data_points ?? [], errors.data?.data_points ?? []),
    [requests.data, errors.data],
  );
  return {
    points,
    total: requests.data?.summary?.total ?? null,
    error: requests.error ?? errors.error,
    refetch: () => Promise.all([requests.refetch(), errors.refetch()]),
  };
}
