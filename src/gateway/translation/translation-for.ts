import { AppError } from '../../common/errors/app-error.js';
import type { Endpoint, EndpointId, Json } from '../../providers/endpoint.js';
import type { Provider } from '../../providers/provider.js';
import type { Target } from '../types/target.js';
import { hubOf, supportOf } from '../../providers/support.js';
import { clientShapes } from '../../providers/client-formats/index.js';
import type { ClientShape, Translator } from '../../providers/translation.js';

/** How an exchange is translated. At least one of `shape` and `translator` is set. */
export interface Translation {
  /** The client's format; null for the hub's own. */
  readonly shape: ClientShape | null;
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
 * Whether the provider's row lists neither the endpoint nor a translation of it. The request is forwarded like any other path, because the
 * provider may have more than its row.
 */
export function isUnlisted({ provider }: Target, endpoint: Endpoint | null): boolean {
  return endpoint !== null && !isUnread(endpoint) && supportOf(provider, endpoint.id) === null;
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

const isOwnFormat = ({ shape, translator }: Translation, json: Json | null): boolean =>
  json !== null && shape === null && translator?.isOwnFormat?.(json) === true;

/** A custom host has it, too. */
const isBelowBase = ({ translator }: Translation): boolean => !translator?.isBesideBase;

/** Neither the request nor the response is read. */
const isUnread = ({ body, usage }: Endpoint): boolean => body === 'opaque' && usage === null;

function translated(provider: Provider, endpoint: EndpointId): Translation {
  const shape = clientShapes[endpoint] ?? null;
  const hub = hubOf(endpoint);
  return { shape, translator: provider.dialect.translators?.[hub] ?? null, hub };
}
