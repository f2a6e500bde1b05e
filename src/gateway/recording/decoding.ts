import type { Transform } from 'node:stream';
import { createDecoder } from '../../common/http/content-coding.js';

/** Takes an answer's bytes as they pass and gives them to a reader in clear. */
export interface AnswerDecoder {
  write(chunk: Buffer): void;
  /** Calls back once the reader has had all there is. A body that cannot be decoded just ends early. */
  end(done: () => void): void;
}

/**
 * Null for an encoding that the gateway does not read: the bytes pass, usage is unknown.
 * An answer that unpacks to more than `bytesMax` is a bomb and not read any further.
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
