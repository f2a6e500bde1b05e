import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { ApiError } from './client';
import { isOutage } from './query-client';

type Outage = 'unreachable' | 'unavailable';

/** Why the page shows older data than it wants to: the last reading of a query in use failed in an outage. Null if none did. */
export function useOutage(): Outage | null {
  const cache = useQueryClient().getQueryCache();
  const subscribe = useCallback((onChange: () => void) => cache.subscribe(onChange), [cache]);
  return useSyncExternalStore(subscribe, () => {
    const failed = cache
      .findAll({ type: 'active' })
      .find(({ state }) => state.status === 'error' && state.data !== undefined && isOutage(state.error));
    if (!failed) return null;
    return ApiError.from(failed.state.error).status === 0 ? 'unreachable' : 'unavailable';
  });
}
