import { AppError } from '../../common/errors/app-error.js';
import type { EndpointId, Json } from '../../providers/endpoint.js';
import { messagesUsage } from '../../providers/endpoints/messages.js';
import { withoutForeignReasoning } from '../../providers/shapes/responses/sealing.js';
import { supportOf } from '../../providers/support.js';
import { without } from '../../providers/unsupported-parameters.js';
import type { Provider } from '../../providers/provider.js';
import type { Context, ProviderRequest } from '../../providers/translation.js';
import { gatewayOption } from '../types/gateway-headers.js';
import { editedJson } from '../../common/json/edited-json.js';
import { namesDeployment, pathModelOf } from '../planning/path-model.js';
import { checkHasSocket } from '../planning/http-instead.js';
import { unsupportedRule } from '../planning/planner.js';
import type { Content } from '../types/content.js';
import type { Entry } from '../recording/entry.js';
import type { PlannedTarget } from '../types/plan.js';
import type { Target } from '../types/target.js';
import { wantsStream } from '../types/wants-stream.js';
import { readableCodings } from '../upstream/readable-codings.js';
import {
  type ClientRequestHead,
  upstreamHeaders,
  withoutForeignHeaders,
} from '../upstream/request-headers.js';
import type { WireRequest } from '../upstream/wire.js';
import { addSubprotocols } from '../upstream/subprotocols.js';
import { checkNesting } from './check-nesting.js';
import { encodeBody } from './encode-body.js';
import { batchRequest } from './batch-output.js';
import { LongStrings } from './long-strings.js';
import { withFittingIds } from './fitting-call-ids.js';
import { isOwnPath, joined, ownPath, pathAt, placeOf, queryAt } from './own-path.js';
import { plainHub } from './plain-hub.js';
import { isUnlisted, type Translation, translationFor } from './translation-for.js';
import { ParameterDrops } from './unsupported-parameters.js';

/** An upstream request, and how to translate its response. */
export interface TranslatedRequest {
  readonly wire: WireRequest;
  /** Null: the client receives the response unchanged. */
  readonly translated: ActiveTranslation | null;
  /** Parameters that the provider does not support and that are not sent; null for none. */
  readonly dropped: readonly string[] | null;
  /** The provider's row does not list the endpoint, and the request is forwarded all the same. */
  readonly isUnlisted: boolean;
}

/** A translation in progress. */
export interface ActiveTranslation {
  readonly translation: Translation;
  readonly context: Context;
  /** The client's own request, without dropped parameters. */
  readonly asked: Json;
  /** The same in the hub's format. */
  readonly hub: Json;
}

/** Whether it is a form that this target needs translated. */
export function needsFields(content: Content, planned: PlannedTarget, target: Target, entry: Entry): boolean {
  return (
    content.form !== undefined &&
    !isAsItIs(content, planned, target) &&
    translationFor(target, { endpoint: entry.endpoint, json: null }) !== null
  );
}

/** The request with the fields of its form, once all of it has arrived. Rejects with `body_too_large`. */
export async function withFields(content: Content): Promise<Content> {
  const { form } = content;
  const fields = (await form?.readAll()) ?? {};
  const { model } = fields;
  return {
    ...content,
    ...(form && { body: form.takeHead() }),
    fields,
    model: pathModelOf(content.path)
      ? content.model
      : typeof model === 'string' && model !== ''
        ? model
        : null,
    isStreamed: wantsStream(fields.stream),
  };
}

/** Facts of a request besides its content. */
export type RequestSubject = Pick<Entry, 'id' | 'createdAt' | 'gatewayKey' | 'asked' | 'endpoint'>;

/** Results of the previous steps. */
export interface PreparedRequest {
  readonly request: ClientRequestHead;
  /** As this target receives it. */
  readonly content: Content;
  readonly planned: PlannedTarget;
  readonly target: Target;
  readonly entry: RequestSubject;
}

/** Builds the upstream request: the client's own bytes, or a translation of them if the provider uses another dialect. */
export function outgoing(prepared: PreparedRequest): TranslatedRequest {
  const { content, planned, target, entry } = prepared;
  checkHasSocket(target, content);
  const isUntouched = isAsItIs(content, planned, target);
  if (isUntouched) return asWritten(ownRequest(prepared));
  const { endpoint } = entry;
  const translation = translationFor(target, { endpoint, json: content.json });
  if (translation) return translatedRequest(prepared, translation);
  return asWritten(knownRequest(prepared), isUnlisted(target, endpoint));
}

const asWritten = (wire: WireRequest, isForwarded = false): TranslatedRequest => ({
  wire,
  translated: null,
  dropped: null,
  isUnlisted: isForwarded,
});

/** The request or the config turns translation off. */
const isAsItIs = ({ path }: Content, planned: PlannedTarget, { provider }: Target): boolean =>
  path.isProxied || planned.isPassedThrough || isOwnPath(provider, path);

/** The client's own request, except when it requires more: counting, or the output of a batch. */
function knownRequest(prepared: PreparedRequest): WireRequest {
  const { content, target, entry } = prepared;
  const request = ownRequest(prepared);
  if (entry.endpoint?.id === 'batches') return batchRequest(request, content.path, target, prepared);
  if (!isCounted(target, entry)) return request;
  if (!content.json) throw unreadable(target);
  return { ...request, counted: messagesUsage.inputText(content.json) };
}

function ownRequest(prepared: PreparedRequest): WireRequest {
  const { request, content, target } = prepared;
  const body = withOwnHistory(bodyAt(content, target), prepared);
  const own = codingsFor(prepared);
  const headers = headersOf(prepared, own, body !== content.encoded?.bytes);
  addLength(headers, body);
  if (content.isWebSocket) addSubprotocols(headers, request, target);
  return {
    method: request.method ?? '',
    path: (placeOf(content.path, target, prepared) || '/') + queryAt(target, content.path),
    headers,
    body,
    upgrade: content.isWebSocket ? 'websocket' : undefined,
  };
}

/** The `accept-encoding` for a response that the gateway reads or rewrites. */
function codingsFor({ request, content, target, entry }: PreparedRequest): readonly string[] | undefined {
  if (target.provider.links?.some(({ paths }) => paths.test(content.path.path))) return PLAINLY;
  return entry.endpoint?.usage ? readableCodings(request.headers['accept-encoding']) : undefined;
}

const PLAINLY = ['accept-encoding', 'identity'] as const;

const bodyAt = (content: Content, target: Target): WireRequest['body'] =>
  isMovedDeployment(content, target) ? bodyOfDeployment(content, target) : bodyOf(content);

/** A conversation may have begun at a provider whose tool call ids or reasoning this one refuses. */
function withOwnHistory(
  body: WireRequest['body'],
  { content, target, entry }: PreparedRequest,
): WireRequest['body'] {
  const { json, body: read } = content;
  if (!json || !Buffer.isBuffer(read)) return body;
  const fitting = historyFor(target, json, entry.endpoint?.id);
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
const bodyOf = ({ body, encoded }: Content): WireRequest['body'] =>
  encoded && body === encoded.decoded ? encoded.bytes : body;

/** The path names a deployment, and the provider has none. */
const isMovedDeployment = ({ path }: Content, { provider }: Target): boolean =>
  namesDeployment(path) && !path.isProxied && !isOwnPath(provider, path);

/**
 * An Azure client's body for a provider without deployments: the model is that of its path. Throws `endpoint_unsupported` for a body that
 * is not JSON.
 */
function bodyOfDeployment(content: Content, { provider }: Target): WireRequest['body'] {
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
function headersOf(
  { request, target, entry, content }: PreparedRequest,
  own: readonly string[] | undefined,
  isDecoded: boolean,
): string[] {
  const headers = upstreamHeaders(request, target, entry.gatewayKey ?? '', own);
  if (!content.encoded || !isDecoded) return headers;
  for (let at = headers.length - 2; at >= 0; at -= 2)
    if ((headers[at] as string).toLowerCase() === 'content-encoding') headers.splice(at, 2);
  return headers;
}

/** The provider cannot count tokens, so the gateway does. */
function isCounted({ provider }: Target, { endpoint }: RequestSubject): boolean {
  return endpoint?.id === 'count-tokens' && supportOf(provider, endpoint.id) === 'counted';
}

function translatedRequest(prepared: PreparedRequest, translation: Translation): TranslatedRequest {
  const { content, target, entry } = prepared;
  const isForm = entry.endpoint?.body === 'form';
  const given = content.fields ?? (isForm ? null : content.json);
  if (!given) throw unreadable(target, isForm);
  checkNesting(given, content);
  const context = contextOf(prepared, translation);
  const rule = () => unsupportedRule(prepared.planned, target, entry.asked);
  const drops = new ParameterDrops(rule, translation.shape?.hints);
  const read = drops.run(given, (body) => hubRequest(body, translation, context, target.provider));
  const written = drops.run(read.made, (hub) => providerRequest(hub, prepared, { translation, context }));
  const { path, body, headers = [] } = written.made;
  const { contentType, bytes } = encodeBody(body, longStrings(content, given));
  const own = ['content-type', contentType, ...PLAINLY, ...headers];
  const wire = {
    method: 'POST',
    path: joined(translation.translator?.isBesideBase ? path : pathAt(target, path), target.query),
    headers: headersOf({ ...prepared, request: withoutForeignHeaders(prepared.request, target) }, own, true),
    body: bytes,
  };
  const translated = { translation, context, asked: read.request, hub: written.request };
  return { wire, translated, dropped: drops.names, isUnlisted: false };
}

/** The hub's request in the provider's dialect, which may be the hub's own. */
function providerRequest(
  hub: Json,
  prepared: PreparedRequest,
  { translation: { translator }, context }: Pick<ActiveTranslation, 'translation' | 'context'>,
): ProviderRequest {
  return (
    translator?.request(hub, context) ?? {
      path: ownPath(prepared.target, prepared, '/chat/completions'),
      body: hub,
    }
  );
}

/** From the body for this target, never an earlier one: a guardrail may have changed it. */
const longStrings = ({ body, json }: Content, asked: Json): LongStrings | null =>
  json === asked && Buffer.isBuffer(body) ? LongStrings.of(body, json) : null;

const unreadable = ({ provider }: Target, isForm = false): AppError =>
  new AppError('invalid_request', {
    detail: `The provider "${provider.id}" has a different API, so the request is translated, and its body must be ${isForm ? 'a multipart form' : 'JSON'} without a content-encoding.`,
  });

/** The cost of a stream is known only if the request asks for its usage. */
const USAGE_ASKED = { stream_options: { include_usage: true } } as const;

function hubRequest(
  asked: Json,
  { shape, translator }: Translation,
  context: Context,
  provider: Provider,
): Json {
  const named: Json = asked.model === context.model ? asked : { ...asked, model: context.model };
  const hub = withoutStreamOptions(shape ? shape.request(named, context) : named);
  if (translator) return hub;
  return plainHub(context.isStreamed ? { ...hub, ...USAGE_ASKED } : hub, provider);
}

function withoutStreamOptions(hub: Json): Json {
  return hub.stream_options === undefined ? hub : without(hub, 'stream_options');
}

function contextOf(
  { request, content, planned, target, entry }: PreparedRequest,
  { shape }: Translation,
): Context {
  const isStrict = isStrictlyOpenAi(planned, request);
  return {
    id: entry.id,
    created: Math.floor(entry.createdAt / 1000),
    model: content.model ?? '',
    isStreamed: content.isStreamed,
    fields: target.credentials.fields,
    // Other client formats have fields that OpenAI's lacks.
    isStrict: shape === null && isStrict,
  };
}

/** Whether responses may contain only OpenAI's own fields. */
export function isStrictlyOpenAi({ isStrict }: PlannedTarget, { headers }: ClientRequestHead): boolean {
  return isStrict ?? gatewayOption(headers, 'strict-open-ai-compliance') !== 'false';
}
