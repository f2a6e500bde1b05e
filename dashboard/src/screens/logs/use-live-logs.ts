import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type LogQuery, logsQuery } from '../../api/logs';
import { watchLogs } from './live-stream';

/** New requests are read together, however many come at once. */
const PAUSE_MS = 1_000;

/** `interrupted`: it is being connected again. `ended`: the server says that the person may not watch any more. */
export type LivePhase = 'off' | 'connected' | 'interrupted' | 'ended';

export interface LiveState {
  readonly phase: LivePhase;
  /** Requests that the server could not send, since the stream began. */
  readonly dropped: number;
}

const OFF: LiveState = { phase: 'off', dropped: 0 };

/**
 * Reads the list again when the server reports new requests that match. The stream only says that there is something new, so the list
 * stays the one source of its rows. A hidden page is not connected.
 */
export function useLiveLogs(isLive: boolean, { workspace, conditions, time }: LogQuery): LiveState {
  const queryClient = useQueryClient();
  const isVisible = useVisible();
  const [state, setState] = useState(OFF);
  const address = new URLSearchParams({ ...conditions, workspace_id: workspace }).toString();
  const key = JSON.stringify(logsQuery({ workspace, conditions, time }).queryKey);
  useEffect(() => {
    if (!isLive || !isVisible) return;
    let timer: ReturnType<typeof setTimeout> | null = null;
    const refresh = (): void => {
      timer ??= setTimeout(() => {
        timer = null;
        void queryClient.invalidateQueries({ queryKey: JSON.parse(key) as readonly unknown[] });
      }, PAUSE_MS);
    };
    const stop = watchLogs(`/v1/logs/stream?${address}`, {
      onPhase: (phase) => setState((before) => ({ ...before, phase })),
      onNew: refresh,
      onDropped: (count) => {
        setState((before) => ({ ...before, dropped: before.dropped + count }));
        refresh();
      },
    });
    return () => {
      stop();
      if (timer !== null) clearTimeout(timer);
      setState(OFF);
    };
  }, [isLive, isVisible, address, key, queryClient]);
  return state;
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
