/** The events of a stream of new requests. */
export interface LiveListener {
  readonly onPhase: (phase: 'connected' | 'interrupted' | 'ended') => void;
  readonly onNew: () => void;
  /** The number of rows that the server could not send. */
  readonly onDropped: (count: number) => void;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** The reason with which the server ends a stream permanently. After any other end it is reconnected. */
const FINAL_REASON = 'key_revoked';

/**
 * Watches a stream and reconnects it with growing pauses: `EventSource` itself gives up after a response other than 200.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#fail-the-connection Returns a function that stops it.
 */
export function watchLogs(
  url: string,
  listener: LiveListener,
  connect: (url: string) => EventSource = (address) => new EventSource(address),
): () => void {
  let stream: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let pause = FIRST_PAUSE_MS;

  const close = (): void => {
    stream?.close();
    if (timer !== null) clearTimeout(timer);
  };
  const again = (): void => {
    close();
    listener.onPhase('interrupted');
    timer = setTimeout(open, pause);
    pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
  };
  const end = ({ data }: MessageEvent<string>): void => {
    if (fieldOf(data, 'reason') !== FINAL_REASON) return again();
    close();
    listener.onPhase('ended');
  };
  function open(): void {
    stream = connect(url);
    stream.addEventListener('open', () => {
      pause = FIRST_PAUSE_MS;
      listener.onPhase('connected');
      // Requests that arrived while disconnected are in the list, not in the stream.
      listener.onNew();
    });
    stream.addEventListener('log', listener.onNew);
    stream.addEventListener('dropped', ({ data }: MessageEvent<string>) => {
      const count = fieldOf(data, 'count');
      listener.onDropped(typeof count === 'number' ? count : 0);
    });
    stream.addEventListener('end', end);
    stream.addEventListener('error', again);
  }
  open();
  return close;
}

function fieldOf(data: string, name: string): unknown {
  try {
    return (JSON.parse(data) as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
}
