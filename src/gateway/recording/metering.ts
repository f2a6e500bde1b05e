import type { Usage } from '../../common/contracts/usage.js';
import { withoutByteOrderMark } from '../../common/json/byte-order-mark.js';
import type { Endpoint, Json, UsageReader } from '../../providers/endpoint.js';
import { usageOf } from '../../providers/endpoints/openai-usage.js';
import type { UsageSoFar } from '../../providers/translation.js';
import { type AnswerDecoder, decoding } from './decoding.js';
import { JsonObjects } from './json-objects.js';
import { SseReader } from './sse-reader.js';
import { mayTellFailure, tellsFailure } from './tells-failure.js';

/** What an answer reported of itself while it passed. */
export interface Reading {
  usage: Usage | null;
  responseModel: string | null;
  /** As the last event named it: the first ones of a stream repeat the request's. */
  serviceTier: string | null;
  /** It is that of the beginning: the output was still to come. */
  isBeginning: boolean;
  /** Text of the output, gathered only while its usage is unknown. */
  outputText: string;
  /** When the first event of a stream came; null before, and for plain answers. */
  firstEventAt: number | null;
  /** A stream reported a failure, behind the status of a success. */
  hasFailed: boolean;
  /** No usage was reported; it is what the request shows, or what was reserved for it. */
  isAssumed?: true;
  /** No usage was reported; the input is counted, and the output as far as it was read. */
  isInputCounted?: true;
}

/** Reads an answer beside its way to the client, never changing a byte. */
export interface Meter {
  readonly reading: Reading;
  feed(chunk: Buffer): void;
  /** The last byte has passed; calls back when `reading` is final. */
  end(done: () => void): void;
  /** Whether the answer is complete by its own syntax. Absent where only its last byte shows that. */
  readonly isOver?: () => boolean;
}

/** Providers name tiers with a word. */
export const TIER_CHARS_MAX = 64;

const DONE = '[DONE]';
const OUTPUT_CHARS_MAX = 4 * 1024 * 1024;
/** A plain answer is read whole, so it must be small; of a larger one only the end is read, and a stream as it passes. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const TAIL_BYTES = 64 * 1024;
const PASSING_BYTES_MAX = 256 * 1024 * 1024;

/** What is known of an answer that was not read. */
export const UNREAD: Reading = Object.freeze(nothingRead());

/** A reading at its beginning. */
export function nothingRead(): Reading {
  return {
    usage: null,
    isBeginning: false,
    responseModel: null,
    serviceTier: null,
    outputText: '',
    firstEventAt: null,
    hasFailed: false,
  };
}

/**
 * Meters a stream of events. `expectsUsage` says that the client asked for usage, so that only the
 * event which has it needs to be parsed. The text is gathered all the same, and counted where that event does not come: the client left,
 * or the provider broke off.
 */
export function meterStream(
  reader: UsageReader,
  contentEncoding: string | null,
  expectsUsage: boolean,
): Meter | null {
  const reading = nothingRead();
  const onEvent = (data: string): void => {
    reading.firstEventAt ??= performance.now();
    if (data === DONE) return;
    if (!expectsUsage || reading.responseModel === null || mayTellMore(data))
      note(reading, reader, parsedObject(data));
    else if (isGathered(reading)) reading.outputText += textIn(data, reader);
  };
  const events = new SseReader(onEvent, (end) => {
    reading.firstEventAt ??= performance.now();
    note(reading, reader, parsedObject(usageAtTheEnd(end)));
  });
  const decoder = decoding(contentEncoding, PASSING_BYTES_MAX, (chunk) => {
    events.feed(chunk);
  });
  return (
    decoder &&
    meter(reading, decoder, () => {
      events.end();
    })
  );
}

/** Meters a plain JSON answer. */
export function meterAnswer(reader: UsageReader, contentEncoding: string | null): Meter | null {
  const reading = nothingRead();
  const kept = new KeptAnswer();
  const decoder = decoding(contentEncoding, PASSING_BYTES_MAX, (chunk) => {
    kept.add(chunk);
  });
  return (
    decoder &&
    meter(reading, decoder, () => {
      note(reading, reader, kept.json());
    })
  );
}

/** Meters a stream that is a JSON array of what would be its events. */
export function meterArray(reader: UsageReader, contentEncoding: string | null): Meter | null {
  const reading = nothingRead();
  const objects = new JsonObjects((json) => {
    reading.firstEventAt ??= performance.now();
    note(reading, reader, parsedObject(json));
  });
  const decoder = decoding(contentEncoding, PASSING_BYTES_MAX, (chunk) => {
    objects.feed(chunk);
  });
  return decoder && { ...meter(reading, decoder, () => undefined), isOver: () => objects.isOver };
}

/** Reads usage, model and text of a whole answer, which is an object or an array of objects. */
export function noteWhole(reading: Reading, reader: UsageReader, answer: Buffer): void {
  new JsonObjects((json) => {
    note(reading, reader, parsedObject(json));
  }).feed(answer);
}

/** A plain answer, or the end of one that is too long: pictures and pages are large, and what they cost comes last. */
class KeptAnswer {
  private readonly chunks: Buffer[] = [];
  private bytes = 0;
  private isCut = false;

  add(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    if (this.bytes > (this.isCut ? 2 * TAIL_BYTES : ANSWER_BYTES_MAX)) this.cut();
  }

  json(): Json | null {
    const { chunks } = this;
    const text = (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString('utf8');
    return parsedObject(this.isCut ? usageAtTheEnd(text) : text);
  }

  private cut(): void {
    this.isCut = true;
    let first = this.chunks.length;
    this.bytes = 0;
    while (first > 0 && this.bytes < TAIL_BYTES) this.bytes += (this.chunks[--first] as Buffer).length;
    this.chunks.splice(0, first);
  }
}

/** The last `"usage…": {…}` as an object of its own; within a text its first quote would be escaped. */
function usageAtTheEnd(text: string): string {
  let at = text.lastIndexOf('"usage');
  while (at > 0 && text[at - 1] === '\\') at = text.lastIndexOf('"usage', at - 1);
  return at < 0 ? '' : `{${text.slice(at, endOfObject(text, at))}}`;
}

/** Where the first object behind `from` is over. What counts has no braces in its texts. */
function endOfObject(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '{') depth++;
    else if (text[at] === '}' && --depth <= 0) return at + 1;
  }
  return text.length;
}

function meter(reading: Reading, decoder: AnswerDecoder, finish: () => void): Meter {
  return {
    reading,
    feed: (chunk) => {
      decoder.write(chunk);
    },
    end: (done) => {
      decoder.end(() => {
        finish();
        done();
      });
    },
  };
}

/** Who reads the answer to a request of an endpoint; null where answers tell no usage. */
export function readerFor(endpoint: Endpoint | null, body: Json | null): UsageReader | null {
  const reader = endpoint?.usage ?? null;
  return (body && reader?.askedBy?.(body)) ?? reader;
}

const mayTellMore = (data: string): boolean => mayHaveUsage(data) || mayTellFailure(data);

/** `usage` of OpenAI and Anthropic, `usageMetadata` of Google. */
function mayHaveUsage(data: string): boolean {
  const at = data.indexOf('"usage');
  return at >= 0 && !data.startsWith('"usage":null', at);
}

/** Takes from an answer, or one event of a stream, what it tells of itself. */
export function note(reading: Reading, reader: UsageReader, answer: Json | null): void {
  if (!answer) return;
  if (tellsFailure(answer)) reading.hasFailed = true;
  const usage = reader.fromAnswer(answer, reading.usage);
  if (usage) {
    reading.usage = usage;
    reading.isBeginning = reader.tellsBeginning?.(answer, usage) ?? false;
  }
  noteServed(reading, reader, answer);
  if (isGathered(reading)) reading.outputText += reader.outputText(answer);
}

/** Which model answered, and in which tier. */
function noteServed(reading: Reading, reader: UsageReader, answer: Json): void {
  reading.responseModel ??= reader.modelOf(answer)?.slice(0, 256) ?? null;
  reading.serviceTier = reader.tierOf?.(answer)?.slice(0, TIER_CHARS_MAX) ?? reading.serviceTier;
}

/** The same of an event that tells nothing but a text. */
export function noteText(reading: Reading, text: string): void {
  if (isGathered(reading)) reading.outputText += text;
}

function textIn(event: string, reader: UsageReader): string {
  const text = reader.passingText?.(event);
  if (text !== undefined && text !== null) return text;
  const parsed = parsedObject(event);
  return parsed ? reader.outputText(parsed) : '';
}

/** Takes what a stream in another dialect has reported of its usage before its end, in the words of chat completions. */
export function noteSoFar(reading: Reading, { usage, isBeginning }: UsageSoFar): void {
  const told = usageOf(usage);
  if (!told) return;
  reading.usage = told;
  reading.isBeginning = isBeginning;
}

/** The output is to be counted, as far as it is known. */
export const lacksOutput = ({ usage, isBeginning }: Reading): boolean => usage === null || isBeginning;

const isGathered = (reading: Reading): boolean =>
  lacksOutput(reading) && reading.outputText.length < OUTPUT_CHARS_MAX;

/** Null for what is not a JSON object: the provider's affair, the bytes pass. */
export function parsedObject(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(withoutByteOrderMark(text));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    return null;
  }
}
