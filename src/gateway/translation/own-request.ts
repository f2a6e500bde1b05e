import { AppError } from '../../common/errors/app-error.js';
import { editedJson } from '../../common/json/edited-json.js';
import type { EndpointId, Json } from '../../providers/endpoint.js';
import { withoutForeignReasoning } from '../../providers/client-formats/responses/sealing.js';
import { namesDeployment } from '../planning/named-model.js';
import type { RequestContent } from '../types/content.js';
import type { Target } from '../types/target.js';
import { upstreamHeaders } from '../upstream/forwarded-headers.js';
import { addSubprotocols } from '../upstream/subprotocols.js';
import type { WireRequest } from '../upstream/wire.js';
import { isOwnPath, providerPath, queryAt } from './own-path.js';
import type { PreparedRequest } from './prepared-request.js';
import { CallIds } from '../../providers/dialects/call-ids.js';
import { isObject } from '../../providers/endpoints/reading.js';
import type { CallIdRule, StreamUsage } from '../../providers/provider.js';
import { gatewayOption } from '../types/gateway-headers.js';
import { canDecode, codingsOf } from '../../common/http/content-coding.js';

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
    path: (providerPath(content.path, target, prepared) || '/') + query,
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

/** A message with tool call ids that the provider accepts; the same object if it has them already. */
export function withIds(message: unknown, ids: CallIds | null): unknown {
  if (!ids || !isObject(message)) return message;
  const { tool_calls: calls, tool_call_id: id } = message;
  if (typeof id === 'string') {
    const fitting = ids.of(id);
    return fitting === id ? message : { ...message, tool_call_id: fitting };
  }
  if (!Array.isArray(calls)) return message;
  const fitting = (calls as readonly unknown[]).map((call) => withId(call, ids));
  return fitting.every((call, at) => call === calls[at]) ? message : { ...message, tool_calls: fitting };
}

function withId(call: unknown, ids: CallIds): unknown {
  if (!isObject(call) || typeof call.id !== 'string') return call;
  const fitting = ids.of(call.id);
  return fitting === call.id ? call : ({ ...call, id: fitting } satisfies Json);
}

/** A chat with tool call ids that the provider accepts; the same object if it has them already, as nearly always. */
export function withFittingIds(chat: Json, rule: CallIdRule): Json {
  const { messages } = chat;
  if (!Array.isArray(messages) || messages.every((message) => fits(message, rule))) return chat;
  const ids = new CallIds(rule);
  return { ...chat, messages: messages.map((message) => withIds(message, ids)) };
}

function fits(message: unknown, { fitting }: CallIdRule): boolean {
  if (!isObject(message)) return true;
  const { tool_calls: calls, tool_call_id: id } = message;
  const isFitting = (callId: unknown): boolean => typeof callId !== 'string' || fitting.test(callId);
  return (
    isFitting(id) && (!Array.isArray(calls) || calls.every((call) => !isObject(call) || isFitting(call.id)))
  );
}

/** The option that requests the usage of a stream. https://platform.openai.com/docs/api-reference/chat/create#chat-create-stream_options */
export const USAGE_OPTION = { stream_options: { include_usage: true } } as const;

const CLOSING_BRACE = 0x7d;
/** A JSON text with `stream` in it, so there is a member before. */
const ADDED_MEMBER = Buffer.from(`,${JSON.stringify(USAGE_OPTION).slice(1, -1)}`);

/**
 * Whether the gateway requests the usage of a native stream in place of the client: the provider reports it on request only, the client
 * does not request it, and no config or header turns it off. `query` is that of the request to the provider.
 */
export function requestsUsage(prepared: PreparedRequest, query: string): boolean {
  const { content, target, facts } = prepared;
  if (facts.endpoint?.usageInStreams !== 'asked' || !content.isStreamed) return false;
  if (!hasOption(target.provider.streamUsage, query) || !isOn(prepared)) return false;
  return Buffer.isBuffer(content.body) && lacksUsage(content.json);
}

function isOn({ content, planned, request }: PreparedRequest): boolean {
  if (content.path.isProxied || planned.isPassedThrough) return false;
  return planned.requestsUsage ?? gatewayOption(request.headers, 'stream-usage') !== 'false';
}

function hasOption(streamUsage: StreamUsage | undefined, query: string): boolean {
  if (streamUsage?.reported !== 'on-request') return false;
  const { sinceVersion } = streamUsage;
  if (sinceVersion === undefined) return true;
  const version = new URLSearchParams(query).get('api-version');
  return version === null || version >= sinceVersion;
}

/** Options of another type are left to the provider, which refuses them. Azure refuses the option beside its own data sources. */
function lacksUsage(json: Json | null): boolean {
  if (!json || json.data_sources !== undefined) return false;
  const options = json.stream_options ?? {};
  return typeof options === 'object' && !Array.isArray(options) && (options as Json).include_usage !== true;
}

/** The body with the option. Every other byte stays, and a body without options is not read again. */
export function withUsageRequested(body: Buffer, json: Json): WireRequest['body'] {
  const { stream_options: options } = json;
  if (options !== undefined)
    return editedJson(body, json, {
      ...json,
      stream_options: { ...(options as Json | null), ...USAGE_OPTION.stream_options },
    });
  const end = body.lastIndexOf(CLOSING_BRACE);
  return Buffer.concat([body.subarray(0, end), ADDED_MEMBER, body.subarray(end)]);
}

/** Cached decisions by the client's value; clients send few different ones. */
const decided = new Map<string, readonly string[]>();
const DECIDED_MAX = 200;

const AS_IT_IS: readonly string[] = [];
/** https://www.rfc-editor.org/rfc/rfc9110#name-quality-values */
const REFUSED = /;\s*q=0(?:\.0*)?$/i;

/**
 * Name and value of an `accept-encoding` without the codings that the gateway cannot decode, if there are any; empty if the client's own
 * can stay. For responses that are read on their way: a response in an unsupported coding could not be charged.
 */
export function readableCodings(accepted: string | undefined): readonly string[] {
  if (accepted === undefined) return AS_IT_IS;
  const known = decided.get(accepted);
  if (known) return known;
  const own = decide(accepted);
  if (decided.size < DECIDED_MAX) decided.set(accepted, own);
  return own;
}

function decide(accepted: string): readonly string[] {
  const codings = accepted.split(',').map((coding) => coding.trim());
  const readable = codings.filter(
    (coding) => REFUSED.test(coding) || codingsOf(nameOf(coding)).every(canDecode),
  );
  if (readable.length === codings.length) return AS_IT_IS;
  const hasChoice = readable.some((coding) => !REFUSED.test(coding));
  return ['accept-encoding', hasChoice ? readable.join(', ') : 'identity'];
}

const nameOf = (coding: string): string => coding.split(';', 1)[0] as string;
