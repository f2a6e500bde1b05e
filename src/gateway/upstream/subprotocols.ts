import type { ClientRequest } from '../../common/fast-path/messages.js';
import { presentedKey } from '../../auth/identity/credentials.js';
import { looksLikeGatewayKey } from '../../common/crypto/api-key-format.js';
import type { Target } from '../types/target.js';

/**
 * A browser can set no header of a WebSocket, so OpenAI's clients write the key as a subprotocol there.
 * https://github.com/openai/openai-node/blob/master/src/realtime/websocket.ts
 */
const KEY_PREFIX = 'openai-insecure-api-key.';
const HEADER = 'sec-websocket-protocol';

type Offering = Pick<ClientRequest, 'headers'>;

function offered({ headers }: Offering): readonly string[] {
  const names = (headers[HEADER] ?? '').split(',');
  return names.map((name) => name.trim()).filter((name) => name !== '');
}

/** Takes a gateway key that came as a subprotocol for what it is, unless the request presents one in a header. */
export function takeKeyFromSubprotocols(request: ClientRequest): void {
  if (presentedKey(request.headers) !== null) return;
  const key = offered(request)
    .find((name) => name.startsWith(KEY_PREFIX))
    ?.slice(KEY_PREFIX.length);
  if (key !== undefined && looksLikeGatewayKey(key)) request.headers['x-gateway-api-key'] = key;
}

/**
 * Adds the subprotocols that go on. A gateway key stays here, and so does a credential of the caller where the gateway adds
 * one.
 */
export function addSubprotocols(
  headers: string[],
  request: Offering,
  { credentials }: Pick<Target, 'credentials'>,
): void {
  const kept = offered(request).filter((name) => {
    if (!name.startsWith(KEY_PREFIX)) return !name.includes('gw_');
    return credentials.key === null && !looksLikeGatewayKey(name.slice(KEY_PREFIX.length));
  });
  if (kept.length > 0) headers.push(HEADER, kept.join(', '));
}
