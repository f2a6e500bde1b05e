import { AppError } from '../../common/errors/app-error.js';
import type { Endpoint, EndpointId, Json } from '../../providers/endpoint.js';
import { messagesUsage } from '../../providers/endpoints/messages.js';
import { hubOf, supportOf } from '../../providers/support.js';
import { without } from '../../providers/unsupported-parameters.js';
import type { Provider } from '../../providers/provider.js';
import type { ClientFormat, Context, ProviderRequest, Translator } from '../../providers/translation.js';
import { gatewayOption } from '../types/gateway-headers.js';
import { pathModelOf } from '../planning/named-model.js';
import { checkHasSocket } from '../planning/http-instead.js';
import { unsupportedRule } from '../planning/planner.js';
import type { RequestContent } from '../types/content.js';
import type { ExchangeFacts } from '../types/exchange-facts.js';
import type { PlannedTarget } from '../types/plan.js';
import type { Target } from '../types/target.js';
import { wantsStream } from '../types/attempt-trail.js';
import { type ClientRequestHead, withoutForeignHeaders } from '../upstream/forwarded-headers.js';
import { checkNesting } from './check-nesting.js';
import { encodeBody } from './encode-body.js';
import { batchRequest } from './batch-output.js';
import { LongStrings } from './long-strings.js';
import { isOwnPath, isUnlisted, isUnread, pathWithQuery, ownPath, pathAt } from './own-path.js';
import { headersOf, type OwnRequest, ownRequest, PLAINLY, USAGE_OPTION } from './own-request.js';
import { plainHub } from './plain-hub.js';
import type { PreparedRequest, RequestSubject } from './prepared-request.js';
import { ParameterDrops } from './unsupported-parameters.js';
import { clientFormats } from '../../providers/client-formats/index.js';

/** An upstream request, and how to translate its response. */
export interface TranslatedRequest extends OwnRequest {
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
  readonly clientBody: Json;
  /** The same in the hub's format. */
  readonly hub: Json;
}

/** Whether it is a form that this target needs translated. */
export function needsFields(
  content: RequestContent,
  planned: PlannedTarget,
  target: Target,
  facts: ExchangeFacts,
): boolean {
  return (
    content.form !== undefined &&
    !isAsItIs(content, planned, target) &&
    translationFor(target, { endpoint: facts.endpoint, json: null }) !== null
  );
}

/** The request with the fields of its form, once all of it has arrived. Rejects with `body_too_large`. */
export async function withFields(content: RequestContent): Promise<RequestContent> {
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

/** Builds the upstream request: the client's own bytes, or a translation of them if the provider uses another dialect. */
export function outgoing(prepared: PreparedRequest): TranslatedRequest {
  const { content, planned, target, facts } = prepared;
  if (content.isWebSocket) checkHasSocket(target, content);
  const isUntouched = isAsItIs(content, planned, target);
  if (isUntouched) return asWritten(ownRequest(prepared));
  const { endpoint } = facts;
  const translation = translationFor(target, { endpoint, json: content.json });
  if (translation) return translatedRequest(prepared, translation);
  checkFormat(target, endpoint);
  return asWritten(knownRequest(prepared), isUnlisted(target, endpoint));
}

const asWritten = ({ wire, hidesUsage }: OwnRequest, isForwarded = false): TranslatedRequest => ({
  wire,
  hidesUsage,
  translated: null,
  dropped: null,
  isUnlisted: isForwarded,
});

/** The request or the config turns translation off. */
const isAsItIs = ({ path }: RequestContent, planned: PlannedTarget, { provider }: Target): boolean =>
  path.isProxied || planned.isPassedThrough || isOwnPath(provider, path);

/** The client's own request, except when it requires more: counting, or the output of a batch. */
function knownRequest(prepared: PreparedRequest): OwnRequest {
  const { content, target, facts } = prepared;
  const own = ownRequest(prepared);
  const { wire } = own;
  if (facts.endpoint?.id === 'batches')
    return { ...own, wire: batchRequest(wire, content.path, target, prepared) };
  if (!isCounted(target, facts)) return own;
  if (!content.json) throw unreadable(target);
  return { ...own, wire: { ...wire, counted: messagesUsage.inputText(content.json) } };
}

/** The provider cannot count tokens, so the gateway does. */
function isCounted({ provider }: Target, { endpoint }: RequestSubject): boolean {
  return endpoint?.id === 'count-tokens' && supportOf(provider, endpoint.id) === 'counted';
}

function translatedRequest(prepared: PreparedRequest, translation: Translation): TranslatedRequest {
  const { content, target, facts } = prepared;
  const isForm = facts.endpoint?.body === 'form';
  const given = content.fields ?? (isForm ? null : content.json);
  if (!given) throw unreadable(target, isForm);
  checkNesting(given, content);
  const context = contextOf(prepared, translation);
  const rule = () => unsupportedRule(prepared.planned, target, facts.options);
  const drops = new ParameterDrops(rule, translation.format?.hints);
  const read = drops.run(given, (body) => hubRequest(body, translation, context, target.provider));
  const written = drops.run(read.made, (hub) => providerRequest(hub, prepared, { translation, context }));
  const { path, body, headers = [] } = written.made;
  const { contentType, bytes } = encodeBody(body, longStrings(content, given));
  const own = ['content-type', contentType, ...PLAINLY, ...headers];
  const wire = {
    method: 'POST',
    path: pathWithQuery(translation.translator?.isBesideBase ? path : pathAt(target, path), target.query),
    headers: headersOf({ ...prepared, request: withoutForeignHeaders(prepared.request, target) }, own, true),
    body: bytes,
  };
  const translated = { translation, context, clientBody: read.request, hub: written.request };
  return { wire, translated, dropped: drops.names, isUnlisted: false, hidesUsage: false };
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
const longStrings = ({ body, json }: RequestContent, clientBody: Json): LongStrings | null =>
  json === clientBody && Buffer.isBuffer(body) ? LongStrings.of(body, json) : null;

const unreadable = ({ provider }: Target, isForm = false): AppError =>
  new AppError('invalid_request', {
    detail: `The provider "${provider.id}" has a different API, so the request is translated, and its body must be ${isForm ? 'a multipart form' : 'JSON'} without a content-encoding.`,
  });

function hubRequest(
  clientBody: Json,
  { format, translator }: Translation,
  context: Context,
  provider: Provider,
): Json {
  const named: Json =
    clientBody.model === context.model ? clientBody : { ...clientBody, model: context.model };
  const hub = withoutStreamOptions(format ? format.request(named, context) : named);
  if (translator) return hub;
  // The cost of a stream is known only if the request asks for its usage.
  const isOnRequest = context.isStreamed && provider.streamUsage?.reported !== 'always';
  return plainHub(isOnRequest ? { ...hub, ...USAGE_OPTION } : hub, provider);
}

function withoutStreamOptions(hub: Json): Json {
  return hub.stream_options === undefined ? hub : without(hub, 'stream_options');
}

function contextOf(
  { request, content, planned, target, facts }: PreparedRequest,
  { format }: Translation,
): Context {
  const isStrict = isStrictlyOpenAi(planned, request);
  return {
    id: facts.id,
    created: Math.floor(facts.createdAt / 1000),
    model: content.model ?? '',
    isStreamed: content.isStreamed,
    fields: target.credentials.fields,
    // Other client formats have fields that OpenAI's lacks.
    isStrict: format === null && isStrict,
  };
}

/** Whether responses may contain only OpenAI's own fields. */
export function isStrictlyOpenAi({ isStrict }: PlannedTarget, { headers }: ClientRequestHead): boolean {
  return isStrict ?? gatewayOption(headers, 'strict-open-ai-compliance') !== 'false';
}

/** How an exchange is translated. At least one of `format` and `translator` is set. */
export interface Translation {
  /** The client's format; null for the hub's own. */
  readonly format: ClientFormat | null;
  /** The provider's dialect; null for the hub's own. */
  readonly translator: Translator | null;
  /** The hub's endpoint between the two. */
  readonly hub: EndpointId;
}

/** The parts of a request that decide how it is translated. */
export interface TranslatedSubject {
  readonly endpoint: Endpoint | null;
  /** The JSON body; null if there is none. */
  readonly json: Json | null;
}

/**
 * How a provider serves an endpoint in another dialect; null when the client's bytes are sent unchanged. That applies to an endpoint that
 * the provider has, to one that its row does not list, to requests that the gateway does not read, to a body in the provider's own format,
 * to pass-through providers, and to a custom host of the caller, which may have more than the provider whose dialect it uses.
 */
export function translationFor(
  { provider, isCustomHost }: Target,
  { endpoint, json }: TranslatedSubject,
): Translation | null {
  if (!endpoint || isUnread(endpoint) || supportOf(provider, endpoint.id) !== 'translated') return null;
  const translation = translated(provider, endpoint.id);
  if (isCustomHost && !isBelowBase(translation)) return null;
  return isOwnFormat(translation, json) ? null : translation;
}

/**
 * Throws `endpoint_unsupported` for a format that no other provider reads. A row without endpoints or translations is one of a provider with
 * an API of its own, which is forwarded to.
 */
export function checkFormat(target: Target, endpoint: Endpoint | null): void {
  const { id, endpoints, dialect } = target.provider;
  const hasOwnApi = endpoints.length === 0 && dialect.translators === undefined;
  if (endpoint?.elsewhere === undefined || hasOwnApi || !isUnlisted(target, endpoint)) return;
  throw new AppError('endpoint_unsupported', {
    provider: id,
    endpoint: `endpoint ${endpoint.id}`,
    detail: endpoint.elsewhere,
  });
}

const isOwnFormat = ({ format, translator }: Translation, json: Json | null): boolean =>
  json !== null && format === null && translator?.isOwnFormat?.(json) === true;

/** A custom host has it, too. */
const isBelowBase = ({ translator }: Translation): boolean => !translator?.isBesideBase;

function translated(provider: Provider, endpoint: EndpointId): Translation {
  const format = clientFormats[endpoint] ?? null;
  const hub = hubOf(endpoint);
  return { format, translator: provider.dialect.translators?.[hub] ?? null, hub };
}
