import type { Socket } from 'node:net';

/** The part of undici's response parser used here: lib/dispatcher/client-h1.js, version 7.30. */
interface Parser {
  paused: boolean;
  readonly ptr: number | null;
  readonly llhttp: { llhttp_resume(ptr: number): void };
  finish(): Error | null;
}

/**
 * Keeps undici's parser from crashing the process when a connection closes while its reader has paused it.
 *
 * A body without a length ends with the connection. If that happens while the client is slower than the provider, `Parser.finish` asserts
 * that it is not paused, inside a socket event, where the error cannot be caught. Every byte has been delivered by then, so resuming the
 * parser first is sufficient.
 */
export function endSafelyWhilePaused(socket: Socket): void {
  const parser = parserOf(socket);
  if (!parser) return;
  const finish = parser.finish.bind(parser);
  parser.finish = () => {
    if (parser.paused && parser.ptr !== null) {
      parser.llhttp.llhttp_resume(parser.ptr);
      parser.paused = false;
    }
    return finish();
  };
}

/**
 * Renames a reset so that undici fails the request. With ECONNRESET it would treat a body without a length as complete, although unread
 * bytes are lost, and would fail requests that only wait for the connection.
 */
export function markReset(error: Error & { code?: string }): void {
  if (error.code === 'ECONNRESET') error.code = 'UND_ERR_SOCKET';
}

function parserOf(socket: Socket): Parser | undefined {
  const symbol = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser');
  return symbol && (socket as unknown as Readonly<Record<symbol, Parser | undefined>>)[symbol];
}
