import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { findSession, type Session, type SessionWorkspace, signOut } from '../api/auth';
import { ApiError } from '../api/client';

const RETRY_MS = 5_000;

/** Null when no user is signed in. Polled while the server is unavailable. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<Session | null> => {
    try {
      return await findSession(signal);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
  refetchInterval: ({ state }) => (state.status === 'error' ? RETRY_MS : false),
  refetchOnWindowFocus: true,
});

interface Place {
  readonly session: Session;
  readonly workspace: SessionWorkspace;
}

const PlaceContext = createContext<Place | null>(null);
export const PlaceProvider = PlaceContext.Provider;

/** The signed-in user and the current workspace. Only below `PlaceProvider`. */
export function usePlace(): Place {
  const place = useContext(PlaceContext);
  if (!place) throw new Error('usePlace is used outside of PlaceProvider.');
  return place;
}

/** Whether the user has a scope, in the current workspace or in the organization. */
export function useMay(): (scope: string) => boolean {
  const { session, workspace } = usePlace();
  return (scope) => workspace.scopes.includes(scope) || session.scopes.includes(scope);
}

export function useSession() {
  return useQuery(sessionQuery);
}

/** Ends the session here even if the server is unreachable: the page discards all loaded data. */
export function useSignOut(): () => Promise<void> {
  const queryClient = useQueryClient();
  return async () => {
    await signOut().catch(() => undefined);
    sessionStorage.clear();
    // Before the removal: the mounted page observes this query, and would not see a new one of the same key.
    queryClient.setQueryData(sessionQuery.queryKey, null);
    queryClient.removeQueries({ predicate: ({ queryKey: [name] }) => name !== sessionQuery.queryKey[0] });
    queryClient.getMutationCache().clear();
  };
}
