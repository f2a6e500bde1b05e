import { isPossibleUsage, type Usage } from '../../common/contracts/usage.js';
import { withoutByteOrderMark } from '../../common/json/byte-order-mark.js';
import type { Endpoint, Json, UsageReader } from '../../providers/endpoint.js';
import { usageOf } from '../../providers/endpoints/openai-usage.js';
import type { Estimate } from '../limits/estimate.js';
import type { UsageSoFar } from '../../providers/translation.js';
import { type AnswerDecoder, decoding } from './decoding.js';
import { JsonObjects, skipLongLines, SseParser } from '../framing/index.js';
import { mayReportFailure, reportsFailure } from './end-events.js';

/** Values that a response reported while it passed. */
export interface Reading {
  usage: Usage | null;
  responseModel: string | null;
  /** From the last event that names it: the first ones of a stream repeat the request's. */
  serviceTier: string | null;
  /** The usage is from the beginning of the stream, before the output. */
  isBeginning: boolean;
  /** Text of the output, collected only while its usage is unknown. */
  outputText: string;
  /** When the first event of a stream arrived; null before, and for plain responses. */
  firstEventAt: number | null;
  /** A stream reported a failure after a success status. */
  hasFailed: boolean;
  /** No usage was reported; it is taken from the request, or from its reservation. */
  isAssumed?: true;
  /** The reservation that it is taken from, or what a limit would have reserved. */
  assumed?: Estimate;
  /** No usage was reported; the input is counted, and the output as far as it was read. */
  isInputCounted?: true;
}

/** Reads a response on its way to the client, never changing a byte. */
export interface Meter {
  readonly reading: Reading;
  feed(chunk: Buffer): void;
  /** The last byte has passed; calls back when `reading` is final. */
  end(done: () => void): void;
  /** Whether the response is complete by its own syntax. Absent if only its last byte shows that. */
  readonly isOver?: () => boolean;
}

/** Tiers are named by a word. */
export const TIER_CHARS_MAX = 64;

const DONE = '[DONE]';
const OUTPUT_CHARS_MAX = 4 * 1024 * 1024;
/** A plain response is read whole, so it must be small; of a larger one, only the end is read. A stream is read as it passes. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const TAIL_BYTES = 64 * 1024;
const PASSING_BYTES_MAX = 256 * 1024 * 1024;

/** The reading of a response that was not read. */
export const UNREAD: Reading = Object.freeze(nothingRead());

/** An empty reading. */
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
 * Meters a stream of events. `expectsUsage`: the client requested usage, so that only the event with it needs to be parsed. The text is
 * collected all the same, and counted if that event never arrives because the client disconnected or the provider broke off.
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
  const onSkipped = (end: string): void => {
    reading.firstEventAt ??= performance.now();
    note(reading, reader, parsedObject(usageAtTheEnd(end)));
  };
  const events = new SseParser(onEvent, skipLongLines(onSkipped));
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

/** Meters a plain JSON response. */
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

/** Meters a stream in the form of a JSON array of events. */
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

/** Reads usage, model and text of a whole response, which is an object or an array of objects. */
export function noteWhole(reading: Reading, reader: UsageReader, answer: Buffer): void {
  new JsonObjects((json) => {
    note(reading, reader, parsedObject(json));
  }).feed(answer);
}

/** A plain response, or the end of a long one: images and pages are large, and their usage comes last. */
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

/** The last `"usage…": {…}` as an object of its own; inside a text, its first quote would be escaped. */
function usageAtTheEnd(text: string): string {
  let at = text.lastIndexOf('"usage');
  while (at > 0 && text[at - 1] === '\\') at = text.lastIndexOf('"usage', at - 1);
  return at < 0 ? '' : `{${text.slice(at, endOfObject(text, at))}}`;
}

/** The end of the first object after `from`. Texts of a usage object contain no braces. */
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

/** The usage reader of an endpoint's request; null if its responses report no usage. */
export function readerFor(endpoint: Endpoint | null, body: Json | null): UsageReader | null {
  const reader = endpoint?.usage ?? null;
  return (body && reader?.askedBy?.(body)) ?? reader;
}

const mayTellMore = (data: string): boolean => mayHaveUsage(data) || mayReportFailure(data);

/** `usage` of OpenAI and Anthropic, `usageMetadata` of Google. */
function mayHaveUsage(data: string): boolean {
  const at = data.indexOf('"usage');
  return at >= 0 && !data.startsWith('"usage":null', at);
}

/** Reads the values that a response, or one event of a stream, reports. An impossible usage is none: the text is counted. */
export function note(reading: Reading, reader: UsageReader, answer: Json | null): void {
  if (!answer) return;
  if (reportsFailure(answer)) reading.hasFailed = true;
  const usage = reader.fromAnswer(answer, reading.usage);
  if (usage && replaces(usage, reading.usage))
    noteUsage(reading, usage, reader.marksBeginning?.(answer, usage) ?? false);
  noteServed(reading, reader, answer);
  if (isGathered(reading)) reading.outputText += reader.outputText(answer);
}

/** Zero output may be a placeholder or wrong, so the output is gathered all the same. */
function noteUsage(reading: Reading, usage: Usage, isBeginning: boolean): void {
  reading.usage = usage;
  reading.isBeginning = isBeginning || usage.output_tokens === 0;
}

/** A later zero does not take back what was reported. */
function replaces(usage: Usage, known: Usage | null): boolean {
  if (!isPossibleUsage(usage)) return false;
  return known === null || (!isEmpty(usage) && (usage.output_tokens > 0 || known.output_tokens === 0));
}

/** A usage that reports that nothing was used. */
function isEmpty(usage: Usage): boolean {
  if (usage.input_tokens + usage.output_tokens > 0) return false;
  return Object.values(usage).every((value) => typeof value !== 'number' || value === 0);
}

/**
 * A response with text that reports zero has reported nothing: its text is counted. If only its output is zero, the reported input stays, and
 * the text of the output is counted.
 */
export function believed(reading: Reading): Reading {
  const { usage, outputText } = reading;
  if (!usage || outputText === '' || !isEmpty(usage)) return reading;
  return { ...reading, usage: null, isBeginning: false };
}

/** Reads the model of the response, and its tier. */
function noteServed(reading: Reading, reader: UsageReader, answer: Json): void {
  reading.responseModel ??= reader.modelOf(answer)?.slice(0, 256) ?? null;
  reading.serviceTier = reader.tierOf?.(answer)?.slice(0, TIER_CHARS_MAX) ?? reading.serviceTier;
}

/** The same for an event that contains only a text. */
export function noteText(reading: Reading, text: string): void {
  if (isGathered(reading)) reading.outputText += text;
}

function textIn(event: string, reader: UsageReader): string {
  const text = reader.passingText?.(event);
  if (text !== undefined && text !== null) return text;
  const parsed = parsedObject(event);
  return parsed ? reader.outputText(parsed) : '';
}

/** Reads the usage that a stream in another dialect has reported before its end, in the format of chat completions. */
export function noteSoFar(reading: Reading, { usage, isBeginning }: UsageSoFar): void {
  const told = usageOf(usage);
  if (told && replaces(told, reading.usage)) noteUsage(reading, told, isBeginning);
}

/** The output must be counted, as far as it is known. */
export const lacksOutput = ({ usage, isBeginning }: Reading): boolean => usage === null || isBeginning;

/** Whether there is text to count. */
export const hasText = ({ outputText, isInputCounted }: Reading): boolean =>
  outputText !== '' || isInputCounted === true;

const isGathered = (reading: Reading): boolean =>
  lacksOutput(reading) && reading.outputText.length < OUTPUT_CHARS_MAX;

/** Null for a text that is not a JSON object: its bytes pass, and the provider is responsible for them. */
export function parsedObject(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(withoutByteOrderMark(text));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    return null;
  }
}
