import { AppError } from '../../common/errors/app-error.js';
import { type AnswerDecoder, decoding } from '../recording/metering.js';
import { note, nothingRead, parsedObject, readerFor, type Reading, UNREAD } from '../recording/reading.js';
import { ResponseFailure } from '../recording/reported-failure.js';
import { skipLongLines, SseParser } from '../framing/index.js';
import { TranslatedStream } from '../translation/translated-stream.js';
import type { ReplySink } from '../types/reply.js';
import { type PendingAnswer, passingFraming } from './answering.js';

/** A response that is judged as a whole is held in memory, which limits its size. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;

/** The whole response, decoded. Rejects with a `ResponseFailure` when it breaks off or cannot be decoded. */
export function gathered(answering: PendingAnswer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    answering.attempt.attach(new AnswerGatherer(answering, resolve, reject));
  });
}

/** Usage and text of a stream that was cut off. A part of a plain response cannot be read. */
function readCut(arrived: Buffer, answering: PendingAnswer): Reading {
  const { exchangeFacts, content, translated } = answering;
  const reader = readerFor(exchangeFacts.endpoint, content.json);
  if (passingFraming(answering) === null || !reader || arrived.length === 0) return UNREAD;
  const reading = nothingRead();
  if (translated) new TranslatedStream(translated, reading).feed(arrived);
  else new SseParser((data) => note(reading, reader, parsedObject(data)), skipLongLines()).feed(arrived);
  return reading;
}

/** Gathers a whole response, decoded. */
class AnswerGatherer implements ReplySink {
  private readonly chunks: Buffer[] = [];
  private bytes = 0;
  private readonly decoder: AnswerDecoder | null;

  constructor(
    private readonly answering: PendingAnswer,
    private readonly resolve: (whole: Buffer) => void,
    private readonly reject: (failed: ResponseFailure) => void,
  ) {
    const { contentEncoding } = answering.head;
    this.decoder = decoding(contentEncoding, UNPACKED_BYTES_MAX, (chunk) => this.chunks.push(chunk));
  }

  onChunk(chunk: Buffer): boolean {
    this.bytes += chunk.length;
    if (!this.decoder || this.bytes > ANSWER_BYTES_MAX)
      this.answering.attempt.cancel(new AppError('upstream_protocol_error'));
    else this.decoder.write(chunk);
    return true;
  }

  onEnd(): void {
    if (!this.decoder) return this.onFail(new AppError('upstream_protocol_error'));
    this.decoder.end(() => {
      const { chunks } = this;
      this.resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
  }

  onFail(error: AppError): void {
    this.reject(new ResponseFailure(error, readCut(Buffer.concat(this.chunks), this.answering)));
  }
}
