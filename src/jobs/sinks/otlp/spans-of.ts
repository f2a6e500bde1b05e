import { createHash } from 'node:crypto';
import {
  type Attributes,
  type HrTime,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { operationNameOf } from '../../../providers/catalog/telemetry-names.js';
import type { SentAttempt, SentRow } from '../sent-row.js';
import { errorOf, known, serverOf, usageOf, whatOf } from './gen-ai.js';

/** Common to all spans of this service. */
export interface SpanOrigin {
  readonly resource: Resource;
  readonly instrumentationScope: InstrumentationScope;
}

/**
 * The spans of a request: one for the request as served, and below it one per attempt. Their ids derive from the request's, so that sending
 * a request twice yields the same spans. Only attempts carry token counts, because providers are paid per attempt: a backend that adds them
 * up counts none twice.
 */
export function spansOf(row: SentRow, origin: SpanOrigin): ReadableSpan[] {
  const traceId = traceIdOf(row.trace_id);
  const own = spanIdOf(row.span_id ?? row.id);
  const parent = row.parent_span_id === null ? undefined : spanIdOf(row.parent_span_id);
  const request = span(origin, {
    name: row.span_name ?? nameOf(row),
    kind: SpanKind.SERVER,
    ids: [traceId, own, parent],
    from: Date.parse(row.created_at),
    forMs: row.duration_ms,
    attributes: attributesOf(row),
    status: row.status >= 500 ? failure(row.error_code ?? String(row.status)) : UNSET,
  });
  const tries = row.attempts.map((attempt) =>
    span(origin, {
      name: nameOf(row),
      kind: SpanKind.CLIENT,
      ids: [traceId, spanIdOf(`${row.id}/${attempt.attempt}`), own],
      from: Date.parse(attempt.started_at),
      forMs: attempt.duration_ms,
      attributes: attributesOfTry(row, attempt),
      status: statusOf(attempt),
    }),
  );
  return [request, ...tries];
}

const UNSET: SpanStatus = { code: SpanStatusCode.UNSET };
const failure = (message: string): SpanStatus => ({ code: SpanStatusCode.ERROR, message });

function statusOf(attempt: SentAttempt): SpanStatus {
  const error = errorOf(attempt);
  return error === undefined ? UNSET : failure(error);
}

function nameOf(row: SentRow): string {
  const operation = operationNameOf(row.endpoint);
  return row.model === null ? operation : `${operation} ${row.model}`;
}

function attributesOf(row: SentRow): Attributes {
  return {
    ...whatOf(row, row.provider),
    ...known({
      'http.request.method': row.method,
      'url.path': row.path.split('?')[0],
      'http.response.status_code': row.status,
      'error.type': row.status >= 400 ? (row.error_code ?? String(row.status)) : null,
      'gatehouse.request.id': row.id,
      'gatehouse.organisation.id': row.organisation_id,
      'gatehouse.workspace.id': row.workspace_id,
      'gatehouse.api_key.id': row.api_key_id,
      'gatehouse.config.id': row.config_id,
      'gatehouse.virtual_key': row.virtual_key,
      'gatehouse.ending': row.ending,
      'gatehouse.streamed': row.streamed,
      'gatehouse.first_token_ms': row.first_token_ms,
      'gatehouse.overhead_us': row.overhead_us,
      'gatehouse.cache_status': row.cache_status,
      'gatehouse.dropped_parameters': row.dropped_parameters,
      'gatehouse.service_tier': row.service_tier,
      'gatehouse.request_cost_nano_usd': row.cost_nano_usd,
    }),
    ...Object.fromEntries(
      Object.entries(row.metadata ?? {}).map(([name, value]) => [`gatehouse.metadata.${name}`, value]),
    ),
  };
}

function attributesOfTry(row: SentRow, attempt: SentAttempt): Attributes {
  return {
    ...whatOf(row, attempt.provider),
    ...serverOf(attempt),
    ...usageOf(attempt),
    ...known({
      'http.response.status_code': attempt.status,
      'error.type': errorOf(attempt),
      'gatehouse.attempt': attempt.attempt,
      'gatehouse.option_path': attempt.option_path,
    }),
  };
}

interface SpanFacts {
  readonly name: string;
  readonly kind: SpanKind;
  readonly ids: readonly [traceId: string, spanId: string, parent: string | undefined];
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly forMs: number;
  readonly attributes: Attributes;
  readonly status: SpanStatus;
}

function span(
  origin: SpanOrigin,
  { ids: [traceId, spanId, parent], from, forMs, ...told }: SpanFacts,
): ReadableSpan {
  const context = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED });
  return {
    ...origin,
    ...told,
    spanContext: () => context(spanId),
    ...(parent === undefined ? {} : { parentSpanContext: context(parent) }),
    startTime: timeOf(from),
    endTime: timeOf(from + forMs),
    duration: timeOf(forMs),
    ended: true,
    links: [],
    events: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

const NANOS_PER_MS = 1_000_000;
const timeOf = (ms: number): HrTime => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * NANOS_PER_MS)];

const TRACE_ID = /^(?!0+$)[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0+$)[0-9a-f]{16}$/;

/** W3C trace ids stay, UUIDs lose their dashes, and other ids are hashed. */
function traceIdOf(text: string): string {
  const hex = text.toLowerCase().replaceAll('-', '');
  return TRACE_ID.test(hex) ? hex : hashed(text, 32);
}

const spanIdOf = (text: string): string =>
  SPAN_ID.test(text.toLowerCase()) ? text.toLowerCase() : hashed(text, 16);

const hashed = (text: string, digits: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits);
