import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError, errorBody } from '../common/errors/app-error.js';
import { uuidV7 } from '../common/ids/uuid-v7.js';

/** Errors of Node's parser that have a status of their own. https://nodejs.org/docs/latest-v20.x/api/http.html#event-clienterror */
const STATUS_LINES: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
};
const HEADERS_TOO_LARGE = 'HPE_HEADER_OVERFLOW';

/** The response that Node writes to; its type does not list it. */
interface ServedSocket extends Duplex {
  readonly _httpMessage?: ServerResponse | null;
}

/**
 * Answers a request that Node's parser refuses, and ends the connection: what Node does by itself, with our error in place of an empty body
 * for headers that are too large.
 */
export function refuseMalformed(error: Error & { readonly code?: string }, socket: ServedSocket): void {
  const isAnswering = socket._httpMessage?.headersSent === true;
  if (!socket.writable || isAnswering || error.code === 'ECONNRESET') {
    socket.destroy(error);
    return;
  }
  socket.end(error.code === HEADERS_TOO_LARGE ? tooLarge() : emptyResponse(error.code));
}

const emptyResponse = (code = ''): string =>
  `HTTP/1.1 ${STATUS_LINES[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`;

function tooLarge(): string {
  const requestId = uuidV7(Date.now());
  const body = JSON.stringify(errorBody(new AppError('headers_too_large'), requestId));
  const headers = [
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    `x-gateway-request-id: ${requestId}`,
    'x-gateway-error-source: gateway',
    'connection: close',
  ];
  return `HTTP/1.1 431 Request Header Fields Too Large\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
}
