import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type GraphQuery, graphQuery } from './analytics';
import { resultPointsOf } from './result-points';

/**
 * Requests by result, from two graphs. From rollups, so a list beside it never waits. They are read again every `everyMs` milliseconds, unless
 * that is false or the page is hidden.
 */
export function useResultPoints(query: GraphQuery, everyMs: number | false) {
  const requests = useQuery({ ...graphQuery('requests', query), refetchInterval: everyMs });
  const errors = useQuery({ ...graphQuery('errors/stacks', query), refetchInterval: everyMs });
  const points = useMemo(
    () => resultPointsOf(requests.data?.data_points ?? [], errors.data?.data_points ?? []),
    [requests.data, errors.data],
  );
  return {
    points,
    /** When the points were read, in milliseconds; 0 before. */
    readAt: requests.dataUpdatedAt,
    total: requests.data?.summary?.total ?? null,
    error: requests.error ?? errors.error,
    refetch: () => Promise.all([requests.refetch(), errors.refetch()]),
  };
}
