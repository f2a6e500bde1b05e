import { type AnyValueMap, SeverityNumber } from '@opentelemetry/api-logs';
import type { HrTime, SpanContext } from '@opentelemetry/api';
import { type SpanIds, spanIdsOf } from './trace-ids.js';

/** https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber */
const SEVERITIES: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};
const NANOS_PER_MS = 1_000_000;
/** https://www.w3.org/TR/trace-context/#sampled-flag */
const SAMPLED = 1;

/** Fields of a line with a field or a standard attribute of their own in OpenTelemetry. */
const TAKEN = new Set(['level', 'time', 'msg', 'pid', 'err', 'failure', 'request_id', 'trace_id', 'span_id']);

/** One line of the log in OpenTelemetry's data model, without its resource. */
export interface LineRecord {
  readonly hrTime: HrTime;
  readonly severityText: string;
  readonly severityNumber: SeverityNumber;
  readonly body: string;
  readonly attributes: AnyValueMap;
  readonly spanContext?: SpanContext;
}

type LogLine = Readonly<Record<string, unknown>>;

/** Null for text that is not a line of the log. */
export function lineRecord(text: string, trustsClients: boolean): LineRecord | null {
  const line = lineIn(text);
  if (line === null) return null;
  const { level, time, msg, pid, err, failure } = line;
  const severityText = String(level);
  const ids = idsIn(line, trustsClients);
  return {
    hrTime: timeOf(Date.parse(String(time))),
    severityText: severityText.toUpperCase(),
    severityNumber: SEVERITIES[severityText] ?? SeverityNumber.UNSPECIFIED,
    body: String(msg),
    attributes: {
      ...(typeof pid === 'number' && { 'process.pid': pid }),
      ...(typeof line['request_id'] === 'string' && { 'gatehouse.request.id': line['request_id'] }),
      ...exceptionIn(err ?? failure),
      ...furtherIn(line),
    },
    ...(ids && { spanContext: { ...ids, traceFlags: SAMPLED } }),
  };
}

function lineIn(text: string): LogLine | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? (parsed as LogLine) : null;
  } catch {
    return null;
  }
}

/** A line belongs to a span if it names a trace: the lines of the access log do. */
function idsIn(line: LogLine, trustsClients: boolean): SpanIds | null {
  const { request_id: id, trace_id: traceId, span_id: spanId } = line;
  if (typeof id !== 'string' || typeof traceId !== 'string') return null;
  return spanIdsOf({ id, traceId, spanId: typeof spanId === 'string' ? spanId : null }, trustsClients);
}

/** https://opentelemetry.io/docs/specs/semconv/exceptions/exceptions-logs/ */
function exceptionIn(failure: unknown): AnyValueMap {
  if (typeof failure !== 'object' || failure === null) return {};
  const { type, message, stack } = failure as LogLine;
  return {
    ...(typeof type === 'string' && { 'exception.type': type }),
    ...(typeof message === 'string' && { 'exception.message': message }),
    ...(typeof stack === 'string' && { 'exception.stacktrace': stack }),
  };
}

function furtherIn(line: LogLine): AnyValueMap {
  const attributes: AnyValueMap = {};
  for (const [name, value] of Object.entries(line))
    if (!TAKEN.has(name) && value !== null) attributes[`gatehouse.${name}`] = attributeOf(value);
  return attributes;
}

const attributeOf = (value: unknown): string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : JSON.stringify(value);

const timeOf = (ms: number): HrTime => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * NANOS_PER_MS)];
