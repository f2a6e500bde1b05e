import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './client';

const MAX_RETRIES = 2;

/** Only temporary errors are retried. */
const isWorthRetrying = (count: number, error: unknown): boolean => {
  const { status } = ApiError.from(error);
  return count < MAX_RETRIES && (status === 0 || status === 502 || status === 504);
};

const RETRY_MS = 5_000;

/** The server or its database is unavailable. A query that took too long is not repeated: it would take as long again. */
export const isOutage = (error: unknown): boolean => {
  const { status, code } = ApiError.from(error);
  return status === 0 || status === 502 || status === 504 || (status === 503 && code !== 'query_timeout');
};

/** How soon a query that failed in an outage is repeated, in milliseconds; false for every other query. */
export const retryInterval = ({
  state,
}: {
  readonly state: { readonly status: string; readonly error: unknown };
}): number | false => state.status === 'error' && isOutage(state.error) && RETRY_MS;

/** Refusals that follow a change of the user's rights: another role, or no longer a member of the workspace. */
const REFUSED_RIGHTS: ReadonlySet<string> = new Set([
  'forbidden',
  'insufficient_scope',
  'workspace_required',
]);

interface SessionEvents {
  /** Any response reports that the session has ended. */
  readonly onSignedOut: () => void;
  /** The user may do less than the page knows. */
  readonly onRefused: () => void;
}

/** Failed queries of an outage are repeated until they succeed. */
export function createQueryClient({ onSignedOut, onRefused }: SessionEvents): QueryClient {
  const reportRefusal = (error: unknown): void => {
    if (error instanceof ApiError && REFUSED_RIGHTS.has(error.code)) onRefused();
  };
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (error instanceof ApiError && error.status === 401) onSignedOut();
        reportRefusal(error);
      },
    }),
    mutationCache: new MutationCache({ onError: reportRefusal }),
    defaultOptions: {
      queries: {
        retry: isWorthRetrying,
        refetchInterval: retryInterval,
        staleTime: 10_000,
        refetchOnWindowFocus: false,
      },
      mutations: { retry: false },
    },
  });
}
