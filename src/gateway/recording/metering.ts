import type { Json, UsageReader } from '../../providers/endpoint.js';
import { JsonObjects, skipLongLines, SseParser } from '../framing/index.js';
import { isGathered, mayReportFailure, note, nothingRead, parsedObject, type Reading } from './reading.js';
import type { Transform } from 'node:stream';
import { createDecoder } from '../../common/http/content-coding.js';

/** Reads a response on its way to the client, never changing a byte. */
export interface Meter {
  readonly reading: Reading;
  feed(chunk: Buffer): void;
  /** The last byte has passed; calls back when `reading` is final. */
  end(done: () => void): void;
  /** Whether the response is complete by its own syntax. Absent if only its last byte shows that. */
  readonly hasEnded?: () => boolean;
}

const DONE = '[DONE]';
/** A plain response is read whole, so it must be small; of a larger one, only the end is read. A stream is read as it passes. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const TAIL_BYTES = 64 * 1024;
const PASSING_BYTES_MAX = 256 * 1024 * 1024;

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
  return decoder && { ...meter(reading, decoder, () => undefined), hasEnded: () => objects.hasEnded };
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

const mayTellMore = (data: string): boolean => mayHaveUsage(data) || mayReportFailure(data);

/** `usage` of OpenAI and Anthropic, `usageMetadata` of Google. */
function mayHaveUsage(data: string): boolean {
  const at = data.indexOf('"usage');
  return at >= 0 && !data.startsWith('"usage":null', at);
}

function textIn(event: string, reader: UsageReader): string {
  const text = reader.passingText?.(event);
  if (text !== undefined && text !== null) return text;
  const parsed = parsedObject(event);
  return parsed ? reader.outputText(parsed) : '';
}

/** Takes a response's bytes as they pass and gives them to a reader, decoded. */
export interface AnswerDecoder {
  write(chunk: Buffer): void;
  /** Calls back once the reader has received everything. A body that cannot be decoded simply ends early. */
  end(done: () => void): void;
}

/**
 * Null for an encoding that the gateway does not read: the bytes pass, usage is unknown. A response that decodes to more than `bytesMax` is
 * a decompression bomb and is not read any further.
 */
export function decoding(
  contentEncoding: string | null,
  bytesMax: number,
  read: (chunk: Buffer) => void,
): AnswerDecoder | null {
  if (contentEncoding === null || contentEncoding === 'identity')
    return {
      write: read,
      end: (done) => {
        done();
      },
    };
  const decoder = createDecoder(contentEncoding);
  return decoder ? through(decoder, bytesMax, read) : null;
}

function through(decoder: Transform, bytesMax: number, read: (chunk: Buffer) => void): AnswerDecoder {
  let bytes = 0;
  let whenDone: (() => void) | null = null;
  let hasEnded = false;
  const finish = (): void => {
    hasEnded = true;
    whenDone?.();
    whenDone = null;
  };
  decoder.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) decoder.destroy();
    else read(chunk);
  });
  decoder.on('end', finish).on('error', finish).on('close', finish);
  return {
    write: (chunk) => {
      if (!hasEnded) decoder.write(chunk);
    },
    end: (done) => {
      whenDone = done;
      if (hasEnded) finish();
      else decoder.end();
    },
  };
}
