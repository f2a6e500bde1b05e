import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { type LogQuery, readNewestLogs } from '../../api/logs';
import { watchLogs } from './live-stream';
import { type Pacer, paced } from './paced';

/** `interrupted`: it is reconnecting. `ended`: the user may no longer watch. */
export type LivePhase = 'off' | 'connected' | 'interrupted' | 'ended';

export interface LiveState {
  readonly phase: LivePhase;
  /** Requests that the server could not send since the stream began. */
  readonly dropped: number;
}

interface LiveLogs {
  readonly live: LiveState;
  /** There are new requests, not shown because the user is reading further down. */
  readonly hasNewer: boolean;
  /** Called with whether the first row is visible. */
  readonly onTop: (isAtTop: boolean) => void;
}

const OFF: LiveState = { phase: 'off', dropped: 0 };

/**
 * Reloads the first page when the server reports new matching requests. The stream only signals news, so the list stays the only source of
 * its rows. Rows never move while the user is reading further down: the first page is reloaded when they return to the top. A hidden page
 * is not connected.
 */
export function useLiveLogs(isLive: boolean, { workspace, conditions, time }: LogQuery): LiveLogs {
  const queryClient = useQueryClient();
  const isVisible = useVisible();
  const [live, setLive] = useState(OFF);
  const [hasNewer, setNewer] = useState(false);
  const isAtTop = useRef(true);
  const pacer = useRef<Pacer | null>(null);
  const address = new URLSearchParams({ ...conditions, workspace_id: workspace }).toString();
  const query = JSON.stringify({ workspace, conditions, time });
  useEffect(() => {
    if (!isLive || !isVisible) return;
    const reading = paced(async () => {
      setNewer(!isAtTop.current);
      if (isAtTop.current) await readNewestLogs(queryClient, JSON.parse(query) as LogQuery);
    });
    pacer.current = reading;
    const stop = watchLogs(`/v1/logs/stream?${address}`, {
      onPhase: (phase) => setLive((before) => ({ ...before, phase })),
      onNew: reading.ask,
      onDropped: (count) => {
        setLive((before) => ({ ...before, dropped: before.dropped + count }));
        reading.ask();
      },
    });
    return () => {
      stop();
      reading.stop();
      pacer.current = null;
      setLive(OFF);
      setNewer(false);
    };
  }, [isLive, isVisible, address, query, queryClient]);
  const onTop = useCallback(
    (isTop: boolean) => {
      isAtTop.current = isTop;
      if (isTop && hasNewer) pacer.current?.ask();
    },
    [hasNewer],
  );
  return { live, hasNewer, onTop };
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
