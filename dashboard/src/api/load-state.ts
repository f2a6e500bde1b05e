import type { UseQueryResult } from '@tanstack/react-query';
import type { LoadState, ShownError } from '../parts/states/load-state';
import { ApiError } from './client';

export function shownError(thrown: unknown): ShownError {
  const { status, code, message, requestId } = ApiError.from(thrown);
  return { status, code, message, requestId };
}

type Query = Pick<UseQueryResult, 'isPending' | 'isError' | 'error' | 'isFetching' | 'isPlaceholderData'> & {
  readonly refetch: () => unknown;
  readonly data: unknown;
};

/** The loading state that a part shows for a query. `scope`: the scope needed to read it, named if the server refuses. */
export function loadStateOf(query: Query, scope: string): LoadState {
  const isRefused = query.error instanceof ApiError && query.error.status === 403;
  if (isRefused) return { phase: 'forbidden', scope };
  // Existing data is more useful than an error about reloading it.
  if (query.isError && query.data === undefined)
    return { phase: 'error', error: shownError(query.error), retry: () => void query.refetch() };
  if (query.isPending) return { phase: 'loading' };
  return { phase: 'ready', isRefreshing: query.isPlaceholderData && query.isFetching };
}
