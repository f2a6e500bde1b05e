import type { IncomingMessage } from 'node:http';
import type { ClientRequest } from '../../common/http/messages.js';
import { enterKey } from '../../auth/identity/credentials.js';
import { looksLikeGatewayKey } from '../../common/crypto/api-key-format.js';
import { withoutParameter } from '../types/request-path.js';
import type { Target } from '../types/target.js';

/**
 * A browser cannot set headers of a WebSocket, so OpenAI's clients send the key as a subprotocol.
 * https://github.com/openai/openai-node/blob/master/src/realtime/websocket.ts
 */
const KEY_PREFIX = 'openai-insecure-api-key.';
const HEADER = 'sec-websocket-protocol';

type SubprotocolOffer = Pick<ClientRequest, 'headers'>;

function offered({ headers }: SubprotocolOffer): readonly string[] {
  const names = (headers[HEADER] ?? '').split(',');
  return names.map((name) => name.trim()).filter((name) => name !== '');
}

/** Copies a gateway key that was sent as a subprotocol to its header. */
export function takeKeyFromSubprotocols(request: ClientRequest): void {
  const key = offered(request)
    .find((name) => name.startsWith(KEY_PREFIX))
    ?.slice(KEY_PREFIX.length);
  if (key !== undefined && looksLikeGatewayKey(key)) enterKey(request.headers, key);
}

/** Sessions of Google's clients: https://github.com/googleapis/js-genai/blob/main/src/live.ts */
const GOOGLES_SESSION = /^(?:\/v1|\/)?\/ws\/google\.ai\.generativelanguage\./;
const KEY_PARAMETER = 'key';

/**
 * Moves a gateway key out of the query of a Gemini Live session, where Google's clients write their key, before anything reads the address.
 */
export function takeKeyFromQuery(request: Pick<IncomingMessage, 'url' | 'headers'>): void {
  const { url = '' } = request;
  const mark = url.indexOf('?');
  if (mark < 0 || !GOOGLES_SESSION.test(url)) return;
  const query = url.slice(mark);
  const keys = new URLSearchParams(query).getAll(KEY_PARAMETER).filter(looksLikeGatewayKey);
  if (keys.length === 0) return;
  for (const key of keys) enterKey(request.headers, key);
  request.url = url.slice(0, mark) + withoutParameter(query, KEY_PARAMETER);
}

/** Adds the subprotocols to forward. A gateway key is removed, and so is a credential of the caller if the gateway adds one. */
export function addSubprotocols(
  headers: string[],
  request: SubprotocolOffer,
  { credentials }: Pick<Target, 'credentials'>,
): void {
  const kept = offered(request).filter((name) => {
    if (!name.startsWith(KEY_PREFIX)) return !name.includes('gw_');
    return credentials.key === null && !looksLikeGatewayKey(name.slice(KEY_PREFIX.length));
  });
  if (kept.length > 0) headers.push(HEADER, kept.join(', '));
}
