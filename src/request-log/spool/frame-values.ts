import type { AttemptRecord, CapturedBody, OpenedExchange, RequestLogRecord } from '../record.js';

/**
 * The JSON of frames: lists of values in a fixed order without names, which would be half of the size and take half of the time. The second
 * frame of an exchange starts with the text of its first.
 *
 *   opened  openedValues; once an attempt holds part of a budget, the last of them is [attemptValues, …]
 *   closed  [openedValues, closedValues, [attemptValues, …], bodyValues of the request, bodyValues of the response]
 *
 * The four functions define the order, for writing and reading. Values that a later release adds go to the end of their list, so that
 * spools of older releases stay readable. Objects with names, the oldest format, are readable as well.
 */

/** A body without its bytes. */
export type BodyFacts = Omit<CapturedBody, 'chunks'>;

/** The JSON part of a closed frame, without the bytes of the bodies. */
export interface ClosedExchange {
  readonly record: RequestLogRecord;
  readonly request: BodyFacts | null;
  readonly response: BodyFacts | null;
}

/** The names of a list's values. Null values are kept as null, but optional ones are omitted. */
interface Order {
  readonly names: readonly string[];
  readonly common: readonly string[];
}

/** Values by name, of any record. */
type Whole = Record<string, unknown>;

/** Every property's value is its own name. */
const NAMES: unknown = new Proxy({}, { get: (_, name) => name });

function orderOf<T>(valuesOf: (it: T) => readonly unknown[], ...rare: readonly (keyof T & string)[]): Order {
  const names = valuesOf(NAMES as T) as readonly (keyof T & string)[];
  return { names, common: names.filter((name) => !rare.includes(name)) };
}

const openedValues = (it: OpenedExchange): readonly unknown[] => [
  it.id,
  it.created_at,
  it.organisation_id,
  it.workspace_id,
  it.api_key_id,
  it.user_id,
  it.trace_id,
  it.span_id,
  it.parent_span_id,
  it.span_name,
  it.method,
  it.path,
  it.endpoint,
  it.provider,
  it.virtual_key,
  it.virtual_key_id,
  it.model,
  it.streamed,
  it.metadata,
  it.prompt_slug,
  it.attempts_so_far,
];

/** The first five repeat values that may have changed since the exchange was opened. */
const closedValues = (it: RequestLogRecord): readonly unknown[] => [
  it.provider,
  it.virtual_key,
  it.virtual_key_id,
  it.model,
  it.streamed,
  it.config_id,
  it.config_version_id,
  it.option_path,
  it.decisions,
  it.ending,
  it.status,
  it.error_code,
  it.error_source,
  it.duration_ms,
  it.first_token_ms,
  it.overhead_us,
  it.request_bytes,
  it.response_bytes,
  it.response_model,
  it.usage,
  it.usage_source,
  it.cost_nano_usd,
  it.countable,
  it.hook_results,
  it.request_headers,
  it.response_headers,
  it.cache_status,
  it.cache_score,
  it.saved_nano_usd,
  it.source,
  it.dropped_parameters,
  it.service_tier,
];

const attemptValues = (it: AttemptRecord): readonly unknown[] => [
  it.attempt,
  it.option_path,
  it.provider,
  it.virtual_key_id,
  it.origin,
  it.started_at,
  it.first_byte_ms,
  it.duration_ms,
  it.status,
  it.error_code,
  it.usage,
  it.cost_nano_usd,
  it.price,
  it.charges,
  it.isAside,
  it.countable,
  it.isEstimated,
];

const bodyValues = (it: BodyFacts): readonly unknown[] => [
  it.bytes,
  it.truncated,
  it.content_type,
  it.content_encoding,
];

const OPENED = orderOf(openedValues, 'prompt_slug', 'attempts_so_far');
const CLOSED = orderOf(
  closedValues,
  'cache_status',
  'cache_score',
  'saved_nano_usd',
  'source',
  'dropped_parameters',
  'service_tier',
);
const ATTEMPT = orderOf(attemptValues, 'price', 'charges', 'isAside', 'countable', 'isEstimated');
const BODY = orderOf(bodyValues);

/**
 * A record with all of its names and no values. V8 stores an object built from dozens of computed names as a hash table, which takes twice
 * as long to fill and read; a copy of parsed JSON has a hidden class, as if the names were literals.
 */
function blankOf(...names: readonly string[]): Whole {
  return JSON.parse(JSON.stringify(Object.fromEntries(names.map((name) => [name, null])))) as Whole;
}

const BLANK_OPENED = blankOf(...OPENED.common);
const BLANK_RECORD = blankOf(...OPENED.common, ...CLOSED.common, 'attempts');
const BLANK_ATTEMPT = blankOf(...ATTEMPT.common);
const BLANK_BODY = blankOf(...BODY.common);

export function openedText(exchange: OpenedExchange): string {
  const { attempts_so_far: attempts } = exchange;
  const text = JSON.stringify(
    openedValues(attempts ? { ...exchange, attempts_so_far: undefined } : exchange),
  );
  return attempts ? openedTextWith(text, attempts) : text;
}

const NO_ATTEMPTS = 'null]';

/** The text of an exchange's first frame with the current attempts added. */
export const openedTextWith = (opened: string, attempts: readonly AttemptRecord[]): string =>
  `${opened.slice(0, -NO_ATTEMPTS.length)}${JSON.stringify(attempts.map(attemptValues))}]`;

/** `opened` is the text of the exchange's first frame; null when it has none. */
export function closedText(
  { record, request, response }: ClosedExchange,
  opened: string | null = null,
): string {
  const rest = JSON.stringify([
    closedValues(record),
    record.attempts.map(attemptValues),
    request && bodyValues(request),
    response && bodyValues(response),
  ]);
  return `[${opened ?? openedText(record)},${rest.slice(1)}`;
}

/** Throws a SyntaxError on invalid JSON. */
export function readOpened(json: Buffer): OpenedExchange {
  const value = JSON.parse(json.toString()) as Values | OpenedExchange;
  if (!Array.isArray(value)) return value as OpenedExchange;
  const opened = named(value, OPENED, BLANK_OPENED);
  const attempts = opened['attempts_so_far'] as readonly Values[] | undefined;
  if (attempts) opened['attempts_so_far'] = attempts.map((attempt) => named(attempt, ATTEMPT, BLANK_ATTEMPT));
  return opened as unknown as OpenedExchange;
}

const OPENS = Buffer.from('["');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The id of an opened frame, read without parsing the rest where possible. */
export function idOfOpened(json: Buffer): string {
  const end = json.indexOf(QUOTE, OPENS.length);
  const isPlain = json.subarray(0, OPENS.length).equals(OPENS) && !json.subarray(0, end).includes(BACKSLASH);
  return isPlain ? json.toString('utf8', OPENS.length, end) : readOpened(json).id;
}

/** Throws on JSON that is not a closed frame. */
export function readClosed(json: Buffer): ClosedExchange {
  const value = JSON.parse(json.toString()) as ClosedValues | ClosedExchange;
  if (!isList(value)) return value;
  const [opened, closed, attempts, request, response] = value;
  const record = named(opened, OPENED, BLANK_RECORD);
  name(record, closed, CLOSED.names);
  record['attempts'] = attempts.map((attempt) => named(attempt, ATTEMPT, BLANK_ATTEMPT));
  return {
    record: record as unknown as RequestLogRecord,
    request: request && (named(request, BODY, BLANK_BODY) as unknown as BodyFacts),
    response: response && (named(response, BODY, BLANK_BODY) as unknown as BodyFacts),
  };
}

type Values = readonly unknown[];
type ClosedValues = readonly [Values, Values, readonly Values[], Values | null, Values | null];

const isList = (value: ClosedValues | ClosedExchange): value is ClosedValues => Array.isArray(value);

function named(values: Values, { names }: Order, blank: Whole): Whole {
  const whole = { ...blank };
  name(whole, values, names);
  return whole;
}

/** Values that are null stay null, or absent if optional. */
function name(whole: Whole, values: Values, names: readonly string[]): void {
  for (let at = 0; at < names.length; at++) {
    const each = names[at] as string;
    const value = values[at] ?? null;
    if (value !== null || (whole[each] ?? null) !== null) whole[each] = value;
  }
}
