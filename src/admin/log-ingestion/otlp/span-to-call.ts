import { createHash } from 'node:crypto';
import type { UnpricedCall } from '../log-ingestion.service.js';
import { NUMBER_NAMES, numbersOf } from './span-numbers.js';
import type { AnyValue, KeyValue, OtlpSpan } from './trace-message.js';

/** Why a span was rejected, for the operator of an exporter. */
export class BadSpan extends Error {}

const NANO_PER_MS = 1_000_000n;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LONGEST = 256;
const LONGEST_VALUE = 1_024;
const MOST_METADATA = 32;
const DEEPEST = 16;
const GEN_AI = 'gen_ai.';

type SpanAttributes = ReadonlyMap<string, unknown>;

/**
 * The names of the semantic conventions, newest first; the others are deprecated and still sent.
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
 */
const NAMES = {
  provider: ['gen_ai.provider.name', 'gen_ai.system'],
  model: ['gen_ai.request.model'],
  responseModel: ['gen_ai.response.model'],
  operation: ['gen_ai.operation.name'],
  inputMessages: ['gen_ai.input.messages', 'gen_ai.prompt'],
  outputMessages: ['gen_ai.output.messages', 'gen_ai.completion'],
  status: ['http.response.status_code', 'http.status_code'],
  errorType: ['error.type'],
  url: ['url.full', 'server.address'],
} as const;

/** Providers that have another name in the conventions. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'aws.bedrock': 'bedrock',
  'azure.ai.openai': 'azure-openai',
  'azure.ai.inference': 'azure-ai',
  'gcp.gemini': 'google',
  'gcp.vertex_ai': 'vertex-ai',
  gemini: 'google',
  mistral_ai: 'mistral-ai',
  x_ai: 'x-ai',
};

/** A span in the log's format, and what of it is not kept, for the operator of its exporter. */
export interface SpanReading {
  readonly call: UnpricedCall;
  readonly warnings: readonly string[];
}

/** A span of a model request in the log's format. Throws `BadSpan` if it cannot be stored. */
export function readSpan(span: OtlpSpan, tenant: string, now: number): SpanReading {
  const attributes = attributesOf(span);
  if (![...attributes.keys()].some((name) => name.startsWith(GEN_AI)))
    throw new BadSpan('spans without "gen_ai." attributes are not kept');
  const [traceId, spanId] = [idOf(span.traceId, 32, 'traceId'), idOf(span.spanId, 16, 'spanId')];
  const started = millisecondsOf(span.startTimeUnixNano, 'startTimeUnixNano');
  const ended = millisecondsOf(span.endTimeUnixNano, 'endTimeUnixNano');
  if (started < now - DAY_MS || started > now + HOUR_MS)
    throw new BadSpan(
      '"startTimeUnixNano" is more than a day in the past, or more than an hour in the future',
    );
  const { usage, costNanoUsd, warnings } = numbersOf(attributes);
  const durationMs = Math.min(Math.max(0, ended - started), DAY_MS);
  const call = {
    id: idOfSpan(tenant, traceId, spanId, started),
    source: 'otlp' as const,
    startedAt: started,
    durationMs,
    traceId,
    spanId,
    parentSpanId: span.parentSpanId ? idOf(span.parentSpanId, 16, 'parentSpanId') : null,
    spanName: typeof span.name === 'string' ? span.name.slice(0, LONGEST) : null,
    ...attributesOfCall(attributes, span),
    usage,
    reportedCostNanoUsd: costNanoUsd,
  };
  const isOfItsTimes = durationMs === ended - started;
  return { call, warnings: isOfItsTimes ? warnings : [...warnings, DURATION_CUT] };
}

const DURATION_CUT =
  '"endTimeUnixNano" must be 0 to 24 hours after "startTimeUnixNano"; the nearest duration is kept';

function attributesOfCall(attributes: SpanAttributes, span: OtlpSpan) {
  return {
    method: 'POST',
    url: textOf(attributes, 'url') ?? textOf(attributes, 'operation') ?? 'span',
    provider: providerOf(attributes),
    model: textOf(attributes, 'model'),
    responseModel: textOf(attributes, 'responseModel'),
    streamed: attributes.get('gen_ai.request.stream') === true,
    status: statusOf(span, attributes),
    errorCode: textOf(attributes, 'errorType'),
    metadata: metadataOf(attributes),
    request: { headers: {}, body: bodyOf(attributes, 'inputMessages', span, 'gen_ai.content.prompt') },
    response: { headers: {}, body: bodyOf(attributes, 'outputMessages', span, 'gen_ai.content.completion') },
  };
}

/** A span that an exporter sends again is the same row: the id derives from the span, and its time from the span's start. */
function idOfSpan(tenant: string, traceId: string, spanId: string, started: number): string {
  const random = createHash('sha256').update(`${tenant}\n${traceId}\n${spanId}`).digest();
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(started, 0, 6);
  random.copy(bytes, 6, 0, 10);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function idOf(text: unknown, digits: number, name: string): string {
  const id = typeof text === 'string' ? text.toLowerCase() : '';
  if (id.length !== digits || !/^[0-9a-f]+$/.test(id) || /^0+$/.test(id))
    throw new BadSpan(`"${name}" must be ${digits} hexadecimal digits, not all of them 0`);
  return id;
}

function millisecondsOf(nano: unknown, name: string): number {
  const text = String(nano);
  if (!/^\d{1,20}$/.test(text)) throw new BadSpan(`"${name}" must be nanoseconds since the epoch`);
  return Number(BigInt(text) / NANO_PER_MS);
}

const ERROR_CODES: ReadonlySet<unknown> = new Set([2, 'STATUS_CODE_ERROR']);

function statusOf({ status }: OtlpSpan, attributes: SpanAttributes): number {
  const reported = Number(first(attributes, 'status'));
  if (Number.isInteger(reported) && reported >= 100 && reported <= 599) return reported;
  return ERROR_CODES.has(status?.code) ? 500 : 200;
}

function first(attributes: SpanAttributes, what: keyof typeof NAMES): unknown {
  return NAMES[what].map((name) => attributes.get(name)).find((value) => value !== undefined);
}

function textOf(attributes: SpanAttributes, what: keyof typeof NAMES): string | null {
  const value = first(attributes, what);
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST) : null;
}

function providerOf(attributes: SpanAttributes): string | null {
  const name = textOf(attributes, 'provider');
  return name === null ? null : (PROVIDERS[name] ?? name);
}

/** Messages are in an attribute, as a value or as JSON, or in an event of the older conventions. */
function bodyOf(
  attributes: SpanAttributes,
  what: 'inputMessages' | 'outputMessages',
  span: OtlpSpan,
  event: string,
): unknown {
  const reported = first(attributes, what) ?? first(eventOf(span, event), what);
  if (reported === undefined) return undefined;
  return { messages: typeof reported === 'string' ? (jsonIn(reported) ?? reported) : reported };
}

function eventOf({ events }: OtlpSpan, name: string): SpanAttributes {
  const found = list(events).find((event) => event.name === name);
  return mapOf(found?.attributes);
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Attributes that do not describe the request itself become metadata to search by. */
function metadataOf(attributes: SpanAttributes): Readonly<Record<string, string>> | null {
  const known = new Set<string>([...Object.values(NAMES).flat(), ...NUMBER_NAMES]);
  const free = [...attributes]
    .filter(([name, value]) => !known.has(name) && name.length <= LONGEST && typeof value !== 'object')
    .slice(0, MOST_METADATA)
    .map(([name, value]) => [name, String(value).slice(0, LONGEST_VALUE)] as const);
  return free.length === 0 ? null : Object.fromEntries(free);
}

/** Invalid spans, such as a null in a JSON list, have none. */
const attributesOf = (span: OtlpSpan | null): SpanAttributes => mapOf(span?.attributes);

/** Dotted names are not expanded into objects, which could let clients write to prototypes. */
function mapOf(pairs: readonly KeyValue[] | undefined): SpanAttributes {
  return new Map(
    list(pairs).flatMap(({ key, value }) => (typeof key === 'string' ? [[key, plain(value)] as const] : [])),
  );
}

function plain(value: AnyValue | undefined, depth = 0): unknown {
  if (!value || depth > DEEPEST) return undefined;
  const { arrayValue, kvlistValue, intValue } = value;
  if (arrayValue) return list(arrayValue.values).map((each) => plain(each, depth + 1));
  if (kvlistValue)
    return Object.fromEntries(
      list(kvlistValue.values).map(({ key, value: each }) => [key, plain(each, depth + 1)]),
    );
  if (intValue !== undefined) return wholeOf(intValue);
  return value.stringValue ?? value.boolValue ?? value.doubleValue ?? value.bytesValue;
}

/** Numbers that JavaScript would round stay digits. */
function wholeOf(given: string | number): string | number {
  const whole = Number(given);
  return Number.isSafeInteger(whole) ? whole : given;
}

const list = <T>(values: readonly T[] | undefined): readonly T[] =>
  Array.isArray(values)
    ? (values as readonly T[]).filter((each) => typeof each === 'object' && each !== null)
    : [];
