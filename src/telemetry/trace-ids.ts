import { createHash } from 'node:crypto';

const TRACE_ID = /^(?!0+$)[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0+$)[0-9a-f]{16}$/;

/** The trace id of a log row as OpenTelemetry writes it: W3C trace ids stay, UUIDs lose their dashes, and other ids are hashed. */
export function traceIdOf(text: string): string {
  const hex = text.toLowerCase().replaceAll('-', '');
  return TRACE_ID.test(hex) ? hex : hashed(text, 32);
}

/** The span id: W3C span ids stay, and other ids are hashed. */
export const spanIdOf = (text: string): string =>
  SPAN_ID.test(text.toLowerCase()) ? text.toLowerCase() : hashed(text, 16);

const hashed = (text: string, digits: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits);

/** What a request is traced by: a log row or a line of the access log. */
export interface TracedRequest {
  /** Of the request. */
  readonly id: string;
  readonly traceId: string;
  readonly spanId: string | null;
}

export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** The ids of a request's span. Those that a client set count only if clients are trusted. */
export function spanIdsOf({ id, traceId, spanId }: TracedRequest, trustsClients: boolean): SpanIds {
  return trustsClients
    ? { traceId: traceIdOf(traceId), spanId: spanIdOf(spanId ?? id) }
    : { traceId: traceIdOf(id), spanId: spanIdOf(id) };
}
