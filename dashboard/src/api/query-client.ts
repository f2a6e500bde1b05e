import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './client';

const MAX_RETRIES = 2;

/** Only temporary errors are retried. */
const isWorthRetrying = (count: number, error: unknown): boolean => {
  const { status } = ApiError.from(error);
  return count < MAX_RETRIES && (status === 0 || status === 502 || status === 504);
};

/** `onSignedOut` is called when any response reports that the session has ended. */
export const createQueryClient = (onSignedOut: () => void): QueryClient =>
  new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (error instanceof ApiError && error.status === 401) onSignedOut();
      },
    }),
    defaultOptions: {
      queries: { retry: isWorthRetrying, staleTime: 10_000, refetchOnWindowFocus: false },
      mutations: { retry: false },
    },
  });
