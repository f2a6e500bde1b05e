import { isPossibleUsage, type Usage } from '../../common/contracts/usage.js';
import { withoutByteOrderMark } from '../../common/json/byte-order-mark.js';
import type { Endpoint, Json, UsageReader } from '../../providers/endpoint.js';
import { openaiUsage } from '../../providers/endpoints/openai-usage.js';
import type { UsageSoFar } from '../../providers/translation.js';
import { JsonObjects } from '../framing/index.js';
import type { Estimate } from '../types/estimate.js';

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

/** Tiers are named by a word. */
export const TIER_CHARS_MAX = 64;

const OUTPUT_CHARS_MAX = 4 * 1024 * 1024;

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

/** The usage reader of an endpoint's request; null if its responses report no usage. */
export function readerFor(endpoint: Endpoint | null, body: Json | null): UsageReader | null {
  const reader = endpoint?.usage ?? null;
  return (body && reader?.askedBy?.(body)) ?? reader;
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

/** Reads usage, model and text of a whole response, which is an object or an array of objects. */
export function noteWhole(reading: Reading, reader: UsageReader, answer: Buffer): void {
  new JsonObjects((json) => {
    note(reading, reader, parsedObject(json));
  }).feed(answer);
}

/** Reads the usage that a stream in another dialect has reported before its end, in the format of chat completions. */
export function noteSoFar(reading: Reading, { usage, isBeginning }: UsageSoFar): void {
  const reported = openaiUsage(usage);
  if (reported && replaces(reported, reading.usage)) noteUsage(reading, reported, isBeginning);
}

/** The output must be counted, as far as it is known. */
export const lacksOutput = ({ usage, isBeginning }: Reading): boolean => usage === null || isBeginning;

/** Whether there is text to count. */
export const hasText = ({ outputText, isInputCounted }: Reading): boolean =>
  outputText !== '' || isInputCounted === true;

export const isGathered = (reading: Reading): boolean =>
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

/**
 * Whether a response, or an event of a stream, reports a failure although its status was 200: in the format of chat completions and Google
 * (https://openrouter.ai/docs/api-reference/errors, https://cloud.google.com/apis/design/errors), of Anthropic
 * (https://docs.claude.com/en/docs/build-with-claude/streaming#error-events), and of responses
 * (https://platform.openai.com/docs/api-reference/responses-streaming/response/failed).
 */
export function reportsFailure({ error, type }: Json): boolean {
  return Boolean(error) || type === 'error' || type === 'response.failed';
}

/** Whether JSON may be such a report. Inside a model's text, the quote after the word is escaped. */
export const mayReportFailure = (json: string | Buffer): boolean => json.includes('"error"');

/** Events that end a stream: https://docs.claude.com/en/docs/build-with-claude/streaming, https://docs.cohere.com/docs/streaming */
const ENDS: ReadonlySet<unknown> = new Set(['message_stop', 'message-end']);
/** https://platform.openai.com/docs/api-reference/responses-streaming, and its streams of images and audio. */
const ENDS_OF_OPENAI =
  /^(?:response|image_generation|image_edit)\.(?:completed|incomplete)$|^(?:transcript\.text|speech\.audio)\.done$/;

/** Whether an event of a stream marks the response as complete. */
export function marksEnd({ type, choices, candidates, done }: Json): boolean {
  if (ENDS.has(type) || done === true) return true;
  if (typeof type === 'string' && ENDS_OF_OPENAI.test(type)) return true;
  return hasReason(choices, 'finish_reason') || hasReason(candidates, 'finishReason');
}

const hasReason = (choices: unknown, name: string): boolean =>
  Array.isArray(choices) &&
  choices.some((choice: Json | null) => typeof choice?.[name] === 'string' && choice[name] !== '');
