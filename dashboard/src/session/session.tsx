import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { findSession, type Session, type SessionWorkspace, signOut } from '../api/auth';
import { ApiError } from '../api/client';

const RETRY_MS = 5_000;

/** Null when nobody is signed in. While the server is unavailable it is asked again and again. */
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

/** Who is signed in and which workspace they look at. Only below `PlaceProvider`. */
export function usePlace(): Place {
  const place = useContext(PlaceContext);
  if (!place) throw new Error('usePlace is used outside of PlaceProvider.');
  return place;
}

/** Whether the person may do what a scope names: in the workspace they look at, or in the organization. */
export function useMay(): (scope: string) => boolean {
  const { session, workspace } = usePlace();
  return (scope) => workspace.scopes.includes(scope) || session.scopes.includes(scope);
}

export function useSession() {
  return useQuery(sessionQuery);
}

/** Ends the session here even when the server cannot be asked: the page forgets everything that it read. */
export function useSignOut(): () => Promise<void> {
  const queryClient = useQueryClient();
  return async () => {
    await signOut().catch(() => undefined);
    queryClient.clear();
    queryClient.setQueryData(sessionQuery.queryKey, null);
  };
}
