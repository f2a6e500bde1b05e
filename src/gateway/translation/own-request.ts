import { AppError } from '../../common/errors/app-error.js';
import { editedJson } from '../../common/json/edited-json.js';
import type { EndpointId, Json } from '../../providers/endpoint.js';
import { withoutForeignReasoning } from '../../providers/client-formats/responses/sealing.js';
import { namesDeployment } from '../planning/path-model.js';
import type { RequestContent } from '../types/content.js';
import type { Target } from '../types/target.js';
import { readableCodings } from '../upstream/readable-codings.js';
import { upstreamHeaders } from '../upstream/request-headers.js';
import { addSubprotocols } from '../upstream/subprotocols.js';
import type { WireRequest } from '../upstream/wire.js';
import { withFittingIds } from './fitting-call-ids.js';
import { isOwnPath, placeOf, queryAt } from './own-path.js';
import type { PreparedRequest } from './prepared-request.js';
import { requestsUsage, withUsageRequested } from './stream-usage.js';

/** A request in the client's own dialect. */
export interface OwnRequest {
  readonly wire: WireRequest;
  /** The gateway requests the stream's usage, and the client did not. */
  readonly hidesUsage: boolean;
}

/** The client's own bytes, at the target's address. */
export function ownRequest(prepared: PreparedRequest): OwnRequest {
  const { request, content, target } = prepared;
  const query = queryAt(target, content.path);
  const hidesUsage = requestsUsage(prepared, query);
  const history = withOwnHistory(bodyAt(content, target), prepared);
  const body = hidesUsage ? withStreamUsage(history, content) : history;
  const own = hidesUsage ? PLAINLY : codingsFor(prepared);
  const headers = headersOf(prepared, own, body !== content.encoded?.bytes);
  addLength(headers, body);
  if (content.isWebSocket) addSubprotocols(headers, request, target);
  const wire: WireRequest = {
    method: request.method ?? '',
    path: (placeOf(content.path, target, prepared) || '/') + query,
    headers,
    body,
    upgrade: content.isWebSocket ? 'websocket' : undefined,
  };
  return { wire, hidesUsage };
}

/** A body that the client compressed is sent decoded. */
function withStreamUsage(
  body: WireRequest['body'],
  { json, encoded, body: read }: RequestContent,
): WireRequest['body'] {
  const text = body === encoded?.bytes ? read : body;
  return json && Buffer.isBuffer(text) ? withUsageRequested(text, json) : body;
}

/** The `accept-encoding` for a response that the gateway reads or rewrites. */
function codingsFor({ request, content, target, facts }: PreparedRequest): readonly string[] | undefined {
  if (target.provider.links?.some(({ paths }) => paths.test(content.path.path))) return PLAINLY;
  return facts.endpoint?.usage ? readableCodings(request.headers['accept-encoding']) : undefined;
}

export const PLAINLY = ['accept-encoding', 'identity'] as const;

const bodyAt = (content: RequestContent, target: Target): WireRequest['body'] =>
  isMovedDeployment(content, target) ? bodyOfDeployment(content, target) : bodyOf(content);

/** A conversation may have begun at a provider whose tool call ids or reasoning this one refuses. */
function withOwnHistory(
  body: WireRequest['body'],
  { content, target, facts }: PreparedRequest,
): WireRequest['body'] {
  const { json, body: read } = content;
  if (!json || !Buffer.isBuffer(read)) return body;
  const fitting = historyFor(target, json, facts.endpoint?.id);
  return fitting === json ? body : editedJson(read, json, fitting);
}

function historyFor({ provider }: Target, json: Json, endpoint?: EndpointId): Json {
  if (endpoint === 'responses') return withoutForeignReasoning(json);
  return endpoint === 'chat-completions' && provider.callIds ? withFittingIds(json, provider.callIds) : json;
}

/** For a buffer, the HTTP client sets the length itself. Some providers refuse a body without one. */
function addLength(headers: string[], body: WireRequest['body']): void {
  if (body && !Buffer.isBuffer(body) && body.size !== null) headers.push('content-length', String(body.size));
}

/** The client's own bytes are sent as long as their decoded content is unchanged. */
const bodyOf = ({ body, encoded }: RequestContent): WireRequest['body'] =>
  encoded && body === encoded.decoded ? encoded.bytes : body;

/** The path names a deployment, and the provider has none. */
const isMovedDeployment = ({ path }: RequestContent, { provider }: Target): boolean =>
  namesDeployment(path) && !path.isProxied && !isOwnPath(provider, path);

/**
 * An Azure client's body for a provider without deployments: the model is that of its path. Throws `endpoint_unsupported` for a body that
 * is not JSON.
 */
function bodyOfDeployment(content: RequestContent, { provider }: Target): WireRequest['body'] {
  const { json, model, body } = content;
  if (json?.model === model) return bodyOf(content);
  if (!json || !Buffer.isBuffer(body))
    throw new AppError('endpoint_unsupported', {
      provider: provider.id,
      endpoint: 'deployments',
      detail: 'Name the model in the body, and leave the deployment out of the path.',
    });
  return editedJson(body, json, { ...json, model });
}

/** A body sent decoded loses its content-encoding. */
export function headersOf(
  { request, target, facts, content }: PreparedRequest,
  own: readonly string[] | undefined,
  isDecoded: boolean,
): string[] {
  const headers = upstreamHeaders(request, target, facts.gatewayKey ?? '', own);
  if (!content.encoded || !isDecoded) return headers;
  for (let at = headers.length - 2; at >= 0; at -= 2)
    if ((headers[at] as string).toLowerCase() === 'content-encoding') headers.splice(at, 2);
  return headers;
}
