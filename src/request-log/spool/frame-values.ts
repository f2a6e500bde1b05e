import { logColumn, columnsWith, LOG_COLUMN_NAMES } from '../columns/log-columns.js';
import type { AttemptRecord, CapturedBody, OpenedExchange, RequestLogRecord } from '../record.js';

/**
 * The JSON of frames: lists of values in a fixed order without names, which would be half of the size and take half of the time. The second
 * frame of an exchange starts with the text of its first.
 *
 *   opened  the values of `opened`, from 0; once an attempt holds part of a budget, the last of them is the list of attempts
 *   closed  [values of `opened`, values of `closed`, [values of each attempt, …], values of the request body, values of the response body]
 *
 * `opened` and `closed` are the positions in `LOG_COLUMNS`, for writing and reading. Values that a later release adds go to the end of
 * their list, so that spools of older releases stay readable. The first five of `closed` repeat values that may have changed since the
 * exchange was opened. Objects with names, the oldest format, are readable as well.
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
  /** The values of a record in this order. */
  readonly valuesOf: (it: object) => readonly unknown[];
}

/** Values by name, of any record. */
type Whole = Record<string, unknown>;

type FramePosition = 'opened' | 'closed';

/** Parts of a record that are no columns, with their positions. */
const PARTS = {
  opened: { attempts_so_far: 20 },
  closed: { usage: 19, countable: 22, request_headers: 24, response_headers: 25 },
} as const satisfies Readonly<Record<FramePosition, Readonly<Record<string, number>>>>;

/** The names of a list's values by their positions. Columns have theirs in `LOG_COLUMNS`. */
function namesOf(list: FramePosition): readonly string[] {
  const names: string[] = [];
  for (const name of LOG_COLUMN_NAMES) {
    const at = logColumn(name)[list];
    if (at !== undefined) names[at] = name;
  }
  for (const [name, at] of Object.entries(PARTS[list])) names[at] = name;
  return names;
}

const orderOf = (names: readonly string[], rare: readonly string[]): Order => ({
  names,
  common: names.filter((name) => !rare.includes(name)),
  valuesOf: readerOf(names),
});

/**
 * A function of literal property names, as if it were written by hand: reading 53 properties by computed names would take 10 µs more per
 * request. The names are those of `LOG_COLUMNS` and this file.
 */
function readerOf(names: readonly string[]): Order['valuesOf'] {
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- compiled once, from constants
  return new Function('it', `return [${names.map((name) => `it.${name}`).join(', ')}];`) as Order['valuesOf'];
}

const RARE = ['attempts_so_far', ...columnsWith('isRare')];
const OPENED = orderOf(namesOf('opened'), RARE);
const CLOSED = orderOf(namesOf('closed'), RARE);

const ATTEMPT_NAMES = [
  'attempt',
  'option_path',
  'provider',
  'virtual_key_id',
  'origin',
  'started_at',
  'first_byte_ms',
  'duration_ms',
  'status',
  'error_code',
  'usage',
  'cost_nano_usd',
  'price',
  'charges',
  'isSideCall',
  'countable',
  'isEstimated',
] as const satisfies readonly (keyof AttemptRecord)[];

const BODY_NAMES = [
  'bytes',
  'truncated',
  'content_type',
  'content_encoding',
] as const satisfies readonly (keyof BodyFacts)[];

const ATTEMPT = orderOf(ATTEMPT_NAMES, ['price', 'charges', 'isSideCall', 'countable', 'isEstimated']);
const BODY = orderOf(BODY_NAMES, []);

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
    OPENED.valuesOf(attempts ? { ...exchange, attempts_so_far: undefined } : exchange),
  );
  return attempts ? openedTextWith(text, attempts) : text;
}

const NO_ATTEMPTS = 'null]';

/** The text of an exchange's first frame with the current attempts added. */
export const openedTextWith = (opened: string, attempts: readonly AttemptRecord[]): string =>
  `${opened.slice(0, -NO_ATTEMPTS.length)}${JSON.stringify(attempts.map((attempt) => ATTEMPT.valuesOf(attempt)))}]`;

/** `opened` is the text of the exchange's first frame; null when it has none. */
export function closedText(
  { record, request, response }: ClosedExchange,
  opened: string | null = null,
): string {
  const rest = JSON.stringify([
    CLOSED.valuesOf(record),
    record.attempts.map((attempt) => ATTEMPT.valuesOf(attempt)),
    request && BODY.valuesOf(request),
    response && BODY.valuesOf(response),
  ]);
  return `[${opened ?? openedText(record)},${rest.slice(1)}`;
}

/** Throws a SyntaxError on invalid JSON. */
export function readOpened(json: Buffer): OpenedExchange {
  const value = JSON.parse(json.toString()) as FrameValueList | OpenedExchange;
  if (!Array.isArray(value)) return value as OpenedExchange;
  const opened = named(value, OPENED, BLANK_OPENED);
  const attempts = opened['attempts_so_far'] as readonly FrameValueList[] | undefined;
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

type FrameValueList = readonly unknown[];
type ClosedValues = readonly [
  FrameValueList,
  FrameValueList,
  readonly FrameValueList[],
  FrameValueList | null,
  FrameValueList | null,
];

const isList = (value: ClosedValues | ClosedExchange): value is ClosedValues => Array.isArray(value);

function named(values: FrameValueList, { names }: Order, blank: Whole): Whole {
  const whole = { ...blank };
  name(whole, values, names);
  return whole;
}

/** Values that are null stay null, or absent if optional. */
function name(whole: Whole, values: FrameValueList, names: readonly string[]): void {
  for (let at = 0; at < names.length; at++) {
    const each = names[at] as string;
    const value = values[at] ?? null;
    if (value !== null || (whole[each] ?? null) !== null) whole[each] = value;
  }
}
