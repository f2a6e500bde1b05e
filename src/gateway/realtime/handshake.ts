import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError } from '../../common/errors/app-error.js';
import { addAnswerHeaders } from '../delivery/answer-headers.js';
import { checkHead, checkMethod } from '../ingress/request-hygiene.js';
import type { Entry } from '../recording/entry.js';
import type { Attempt } from '../upstream/attempt.js';
import { headerOf } from '../../common/http/raw-headers.js';
import { readResponseHead } from '../upstream/response-headers.js';

const VERSION = '13';
const KEY = /^[A-Za-z0-9+/]{22}==$/;
const EXTENSIONS = 'sec-websocket-extensions';

/** The response to a request whose socket Node has handed out. The connection ends with it. */
export function responseOn(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  socket.on('error', () => socket.destroy());
  response.assignSocket(socket as Socket);
  response.once('finish', () => socket.end());
  return response;
}

/** Refuses a request that is not an opening handshake. https://www.rfc-editor.org/rfc/rfc6455#section-4.2.1 */
export function checkHandshake(request: IncomingMessage): void {
  checkHead(request);
  checkMethod(request);
  const { headers, method = '' } = request;
  if (method !== 'GET') throw new AppError('method_not_allowed', { method, allowed: 'GET' });
  if (headers['sec-websocket-version'] !== VERSION)
    throw new AppError('header_invalid', {
      header: 'sec-websocket-version',
      detail: `only version ${VERSION} is supported`,
    });
  if (!KEY.test(String(headers['sec-websocket-key'])))
    throw new AppError('header_invalid', {
      header: 'sec-websocket-key',
      detail: 'it must be 16 bytes in base64',
    });
}

interface AcceptedUpgrade {
  readonly response: ServerResponse;
  readonly entry: Entry;
}

/**
 * Forwards the provider's `101` and detaches the socket, which carries frames from then on. False when nothing was sent, because the
 * provider chose an extension that was not offered.
 */
export function acceptUpgrade({ response, entry }: AcceptedUpgrade, attempt: Attempt): boolean {
  const { headers } = readResponseHead(attempt.rawHeaders);
  if (headerOf(headers, EXTENSIONS) !== null) return false;
  addAnswerHeaders(headers, entry, null);
  headers.push('connection', 'Upgrade', 'upgrade', 'websocket');
  const { socket } = response;
  response.sendDate = false;
  response.writeHead(attempt.status, headers);
  response.flushHeaders();
  if (socket) response.detachSocket(socket);
  return true;
}
