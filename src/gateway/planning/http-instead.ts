import { AppError } from '../../common/errors/app-error.js';
import type { ErrorCode } from '../../common/errors/catalog.js';
import type { EndpointId } from '../../providers/endpoint.js';
import { supportOf } from '../../providers/support.js';
import type { RequestContent } from '../types/content.js';
import type { Target } from '../types/target.js';

/**
 * WebSockets that carry requests of an HTTP endpoint. Codex goes on over HTTP after 426; after 400 it gives up, and after other statuses it
 * tries again first. https://developers.openai.com/api/docs/guides/websocket-mode
 */
const BY_PATH: ReadonlyMap<string, EndpointId> = new Map([['/responses', 'responses']]);

/** Refusals of a WebSocket that do not concern the same request over HTTP: its body names the model, and its response the usage. */
const OF_WEBSOCKETS: ReadonlySet<ErrorCode> = new Set(['provider_missing', 'price_unknown', 'usage_unknown']);

/** The error for a client that can send the same request over HTTP; any other error as it is. */
export function httpInstead(thrown: unknown, path: string): unknown {
  if (!BY_PATH.has(path) || !(thrown instanceof AppError) || !OF_WEBSOCKETS.has(thrown.code)) return thrown;
  return unsupported(path, thrown.message);
}

/** Refuses a WebSocket to a provider without the endpoint: its requests are translated, and a WebSocket's are not read. */
export function checkHasSocket({ provider }: Target, { path }: RequestContent): void {
  const endpoint = !path.isProxied ? BY_PATH.get(path.path) : undefined;
  if (endpoint === undefined || supportOf(provider, endpoint) !== 'translated') return;
  throw unsupported(path.path, `The provider "${provider.id}" has no such WebSocket.`);
}

const unsupported = (path: string, detail: string): AppError =>
  new AppError('websocket_unsupported', { detail, path: `/v1${path}` });
