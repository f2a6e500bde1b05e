import type { Transform } from 'node:stream';
import { createDecoder } from '../../common/http/content-coding.js';

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
  let isOver = false;
  const over = (): void => {
    isOver = true;
    whenDone?.();
    whenDone = null;
  };
  decoder.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) decoder.destroy();
    else read(chunk);
  });
  decoder.on('end', over).on('error', over).on('close', over);
  return {
    write: (chunk) => {
      if (!isOver) decoder.write(chunk);
    },
    end: (done) => {
      whenDone = done;
      if (isOver) over();
      else decoder.end();
    },
  };
}
