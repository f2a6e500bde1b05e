import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError } from '../../common/errors/app-error.js';
import { addAnswerHeaders, type AnsweredExchange } from '../delivery/answer-headers.js';
import { checkHead, checkMethod } from '../ingress/request-hygiene.js';
import type { Attempt } from '../upstream/attempt.js';
import { headerOf } from '../../common/http/raw-headers.js';
import { readResponseHead } from '../upstream/forwarded-headers.js';
import { modelTarget } from '../planning/named-model.js';

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

/**
 * Forwards the provider's `101` and detaches the socket, which carries frames from then on. False when nothing was sent, because the
 * provider chose an extension that was not offered.
 */
export function acceptUpgrade(
  exchange: AnsweredExchange,
  response: ServerResponse,
  attempt: Attempt,
): boolean {
  const { headers } = readResponseHead(attempt.rawHeaders);
  if (headerOf(headers, EXTENSIONS) !== null) return false;
  addAnswerHeaders(headers, exchange, null);
  headers.push('connection', 'Upgrade', 'upgrade', 'websocket');
  const { socket } = response;
  response.sendDate = false;
  response.writeHead(attempt.status, headers);
  response.flushHeaders();
  if (socket) response.detachSocket(socket);
  return true;
}

/** The model in a session's query. */
interface RealtimeModelQuery {
  /** With its `?`; the client's own bytes, except for a model that names its target. */
  readonly query: string;
  readonly model: string | null;
  /** Slug that the model named, `@slug/model`. */
  readonly slug: string | null;
}

const MODEL_CHARS_MAX = 256;

/** The parameter of a session's model: OpenAI's `model`, or the deployment of Azure's dated versions. */
const PARAMETER = /([?&])(model|deployment)=([^&]*)/;

/** Providers differ in which of two models they use. */
function checkOneModel(query: string): void {
  const names = [...new URLSearchParams(query).keys()].filter(
    (name) => name === 'model' || name === 'deployment',
  );
  if (names.length > 1)
    throw new AppError('invalid_request', {
      detail: `The address names the model ${names.length} times, as ${names.map((name) => `"${name}"`).join(' and ')}. Name it once`,
    });
}

/** Reads the model of a session, `?model=gpt-realtime` or `?model=@slug/gpt-realtime`. */
export function realtimeModelQuery(query: string): RealtimeModelQuery {
  checkOneModel(query);
  const [whole, mark = '', name = '', value = ''] = PARAMETER.exec(query) ?? [];
  if (whole === undefined) return { query, model: null, slug: null };
  const protocol = decoded(value);
  const named = modelTarget(protocol);
  const model = (named?.model ?? protocol).slice(0, MODEL_CHARS_MAX) || null;
  if (!named) return { query, model, slug: null };
  const rewritten = query.replace(PARAMETER, () => `${mark}${name}=${encodeURIComponent(named.model)}`);
  return { query: rewritten, model, slug: named.slug };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
