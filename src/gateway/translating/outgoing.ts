import type { IncomingMessage } from 'node:http';
import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';
import { messagesUsage } from '../../providers/endpoints/messages.js';
import { supportOf } from '../../providers/endpoints/support.js';
import type { Context } from '../../providers/translation.js';
import { gatewayOption } from '../door/gateway-headers.js';
import type { Content } from '../types/content.js';
import type { Entry } from '../journal/entry.js';
import type { PlannedTarget } from '../types/plan.js';
import type { Target } from '../types/target.js';
import { upstreamHeaders } from '../upstream/request-headers.js';
import type { WireRequest } from '../upstream/wire.js';
import { addSubprotocols } from '../upstream/subprotocols.js';
import { plainHub } from './plain-hub.js';
import { type Translation, translationFor } from './translation-for.js';

/** A request as it leaves, and how its answer comes back. */
export interface Outgoing {
  readonly wire: WireRequest;
  /** Null: the answer is the client's as it is. */
  readonly translated: Translated | null;
}

/** A translation under way. */
export interface Translated {
  readonly translation: Translation;
  readonly context: Context;
  /** The client's own request. */
  readonly asked: Json;
  /** The same in the hub's words. */
  readonly hub: Json;
}

/** What the steps before have found. */
export interface Prepared {
  readonly request: IncomingMessage;
  /** As this target gets it. */
  readonly content: Content;
  readonly planned: PlannedTarget;
  readonly target: Target;
  readonly entry: Entry;
}

/** Makes the upstream request: the client's own bytes, or a translation of them where the provider speaks otherwise. */
export function outgoing(prepared: Prepared): Outgoing {
  const { content, planned, target, entry } = prepared;
  const isAsItIs = content.path.isProxied || planned.isPassedThrough;
  const translation = isAsItIs ? null : translationFor(target, entry.endpoint);
  return translation
    ? translatedRequest(prepared, translation)
    : { wire: isAsItIs ? ownRequest(prepared) : countedRequest(prepared), translated: null };
}

/** The client's own request, but for one that nobody but the gateway can answer: counting for a provider that does not. */
function countedRequest(prepared: Prepared): WireRequest {
  const { content, target, entry } = prepared;
  const request = ownRequest(prepared);
  if (!isCounted(target, entry)) return request;
  if (!content.json) throw unreadable(target);
  return { ...request, counted: messagesUsage.inputText(content.json) };
}

function ownRequest({ request, content, target, entry }: Prepared): WireRequest {
  const { path, query } = content.path;
  const headers = upstreamHeaders(request, target, entry.gatewayKey ?? '');
  if (content.isWebSocket) addSubprotocols(headers, request, target);
  return {
    method: request.method ?? '',
    path: target.basePath + joined(ownPath(target, entry, path) + query, target.query),
    headers,
    body: content.body,
    upgrade: content.isWebSocket ? 'websocket' : undefined,
  };
}

/** Nobody but the gateway can count for this provider. */
function isCounted({ provider }: Target, { endpoint }: Entry): boolean {
  return endpoint?.id === 'count-tokens' && supportOf(provider, endpoint.id) === 'counted';
}

/** The client's own path, but where the provider's dialect knows a better one for an endpoint. */
function ownPath({ provider, credentials }: Target, { endpoint, model }: Entry, path: string): string {
  const { pathOf } = provider.dialect;
  if (!pathOf || !endpoint) return path;
  return pathOf({ endpoint: endpoint.id, path, model: model ?? '', fields: credentials.fields });
}

function joined(path: string, query: string): string {
  if (query === '') return path;
  return path.includes('?') ? `${path}&${query}` : `${path}?${query}`;
}

/** The answer must be read, so it may not be compressed in a way that the gateway cannot undo. */
const OWN_HEADERS = ['content-type', 'application/json', 'accept-encoding', 'identity'] as const;

function translatedRequest(prepared: Prepared, translation: Translation): Outgoing {
  const { request, target, entry } = prepared;
  const asked = entry.body;
  if (!asked) throw unreadable(target);
  const context = contextOf(prepared, translation);
  const hub = hubRequest(asked, translation, context);
  const {
    path,
    body,
    headers = [],
  } = translation.translator?.request(hub, context) ?? {
    path: ownPath(target, entry, '/chat/completions'),
    body: hub,
  };
  const gatewayKey = entry.gatewayKey ?? '';
  const wire = {
    method: 'POST',
    path: target.basePath + joined(path, target.query),
    headers: upstreamHeaders(request, target, gatewayKey, [...OWN_HEADERS, ...headers]),
    body: Buffer.from(JSON.stringify(body)),
  };
  return { wire, translated: { translation, context, asked, hub } };
}

const unreadable = ({ provider }: Target): AppError =>
  new AppError('invalid_request', {
    detail: `The provider "${provider.id}" speaks another dialect, so the request body must be JSON without a content-encoding.`,
  });

/** What a stream cost is known only when the provider is asked to say it. */
const USAGE_ASKED = { stream_options: { include_usage: true } } as const;

function hubRequest(asked: Json, { shape, translator }: Translation, context: Context): Json {
  const named: Json = { ...asked, model: context.model };
  const hub: Record<string, unknown> = { ...(shape ? shape.request(named, context) : named) };
  delete hub.stream_options;
  if (translator) return hub;
  return plainHub(context.isStreamed ? { ...hub, ...USAGE_ASKED } : hub);
}

function contextOf({ request, planned, target, entry }: Prepared, { shape }: Translation): Context {
  const isStrict =
    planned.isStrict ?? gatewayOption(request.headers, 'strict-open-ai-compliance') !== 'false';
  return {
    id: entry.id,
    created: Math.floor(entry.createdAt / 1000),
    model: entry.model ?? '',
    isStreamed: entry.isStreamed,
    fields: target.credentials.fields,
    // Other shapes have places for what OpenAI's has not.
    isStrict: shape === null && isStrict,
  };
}
