import {
  type Attributes,
  type HrTime,
  type Link,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api';
import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { operationNameOf } from '../../../providers/catalog/telemetry-names.js';
import type { SpanSettings } from '../../../common/settings/otel-settings.js';
import { spanIdOf, spanIdsOf, traceIdOf } from '../../../telemetry/trace-ids.js';
import type { GuardrailRun } from '../guardrail-run.js';
import type { SentAttempt, SentRow } from '../sent-row.js';
import { errorOf, known, serverOf, usageAttributes, whatOf } from './gen-ai.js';
import {
  OPEN_INFERENCE_OF_GUARDRAIL,
  openInferenceOfAttempt,
  openInferenceOfRequest,
} from './open-inference.js';

/** Common to all spans of this service. */
export interface SpanOrigin {
  readonly resource: Resource;
  readonly instrumentationScope: InstrumentationScope;
}

/** A request with what is known of it. */
export interface TracedExchange {
  readonly row: SentRow;
  readonly guardrails: readonly GuardrailRun[];
}

type SpanChoices = Pick<SpanSettings, 'hasOpenInference' | 'trustsClients'>;

/**
 * The spans of a request: one for the request as served, and below it one per guardrail and per attempt. Their ids derive from the
 * request's, so that sending a request twice yields the same spans. Only attempts carry token counts, because providers are paid per
 * attempt: a backend that adds them up counts none twice.
 */
export function spansOf(
  { row, guardrails }: TracedExchange,
  origin: SpanOrigin,
  { hasOpenInference, trustsClients }: SpanChoices,
): ReadableSpan[] {
  const { traceId, spanId: own } = spanIdsOf(
    { id: row.id, traceId: row.trace_id, spanId: row.span_id },
    trustsClients,
  );
  const below = (name: string) => [traceId, spanIdOf(`${row.id}/${name}`), own] as const;
  const request = span(origin, {
    name: row.span_name ?? nameOf(row),
    kind: SpanKind.SERVER,
    ids: [
      traceId,
      own,
      trustsClients && row.parent_span_id !== null ? spanIdOf(row.parent_span_id) : undefined,
    ],
    links: trustsClients ? [] : linksOf(row),
    from: Date.parse(row.created_at),
    forMs: row.duration_ms,
    attributes: { ...attributesOf(row), ...(hasOpenInference && openInferenceOfRequest(row)) },
    status: row.status >= 500 ? failure(row.error_code ?? String(row.status)) : UNSET,
  });
  const tries = row.attempts.map((attempt) =>
    span(origin, {
      name: nameOf(row),
      kind: SpanKind.CLIENT,
      ids: below(String(attempt.attempt)),
      from: Date.parse(attempt.started_at),
      forMs: attempt.duration_ms,
      attributes: {
        ...attributesOfTry(row, attempt),
        ...(hasOpenInference && openInferenceOfAttempt(row, attempt)),
      },
      status: statusOf(attempt),
    }),
  );
  const checks = guardrails.map((run, at) =>
    span(origin, { ...guardrailFacts(run, hasOpenInference), ids: below(`guardrail-${at}`) }),
  );
  return [request, ...checks, ...tries];
}

const guardrailFacts = (run: GuardrailRun, hasOpenInference: boolean): Omit<SpanFacts, 'ids'> => ({
  name: `guardrail ${run.id}`,
  kind: SpanKind.INTERNAL,
  from: Date.parse(run.createdAt),
  forMs: run.durationMs,
  attributes: { ...attributesOfGuardrail(run), ...(hasOpenInference && OPEN_INFERENCE_OF_GUARDRAIL) },
  status: UNSET,
});

/** The span that an untrusted client names as the parent. */
function linksOf({ trace_id, parent_span_id }: SentRow): Link[] {
  if (parent_span_id === null) return [];
  const context = {
    traceId: traceIdOf(trace_id),
    spanId: spanIdOf(parent_span_id),
    traceFlags: TraceFlags.SAMPLED,
  };
  return [{ context }];
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
    ...usageAttributes(attempt),
    ...known({
      'gen_ai.request.stream': row.streamed || null,
      'http.response.status_code': attempt.status,
      'error.type': errorOf(attempt),
      'gatehouse.attempt': attempt.attempt,
      'gatehouse.option_path': attempt.option_path,
    }),
  };
}

const attributesOfGuardrail = (run: GuardrailRun): Attributes => ({
  'gatehouse.guardrail.id': run.id,
  'gatehouse.guardrail.stage': run.stage,
  'gatehouse.guardrail.passed': run.verdict,
  'gatehouse.guardrail.denies': run.deny,
  'gatehouse.guardrail.async': run.async,
  'gatehouse.guardrail.changed_content': run.transformed,
  'gatehouse.guardrail.failed_checks': [...run.failedChecks],
});

interface SpanFacts {
  readonly name: string;
  readonly kind: SpanKind;
  readonly ids: readonly [traceId: string, spanId: string, parent: string | undefined];
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly forMs: number;
  readonly attributes: Attributes;
  readonly status: SpanStatus;
  readonly links?: Link[];
}

function span(
  origin: SpanOrigin,
  { ids: [traceId, spanId, parent], from, forMs, links = [], ...otherFacts }: SpanFacts,
): ReadableSpan {
  const context = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED });
  return {
    ...origin,
    ...otherFacts,
    spanContext: () => context(spanId),
    ...(parent === undefined ? {} : { parentSpanContext: context(parent) }),
    startTime: timeOf(from),
    endTime: timeOf(from + forMs),
    duration: timeOf(forMs),
    ended: true,
    links,
    events: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

const NANOS_PER_MS = 1_000_000;
const timeOf = (ms: number): HrTime => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * NANOS_PER_MS)];
