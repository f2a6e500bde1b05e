import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type LogQuery, logsQuery } from '../../api/logs';

/** New requests are read together, however many come at once. */
const PAUSE_MS = 1_000;

/**
 * Reads the list again when the server reports new requests that match. The stream only says that there is something new, so the list
 * stays the one source of its rows. A hidden page is not connected.
 */
export function useLiveLogs(isLive: boolean, { workspace, conditions, time }: LogQuery): void {
  const queryClient = useQueryClient();
  const isVisible = useVisible();
  const address = new URLSearchParams({ ...conditions, workspace_id: workspace }).toString();
  const key = JSON.stringify(logsQuery({ workspace, conditions, time }).queryKey);
  useEffect(() => {
    if (!isLive || !isVisible) return;
    let timer: ReturnType<typeof setTimeout> | null = null;
    const stream = new EventSource(`/v1/logs/stream?${address}`);
    const refresh = (): void => {
      timer ??= setTimeout(() => {
        timer = null;
        void queryClient.invalidateQueries({ queryKey: JSON.parse(key) as readonly unknown[] });
      }, PAUSE_MS);
    };
    for (const name of ['message', 'log', 'dropped']) stream.addEventListener(name, refresh);
    return () => {
      stream.close();
      if (timer !== null) clearTimeout(timer);
    };
  }, [isLive, isVisible, address, key, queryClient]);
}

function useVisible(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const onChange = (): void => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', onChange);
    return () => document.removeEventListener('visibilitychange', onChange);
  }, []);
  return isVisible;
}
