import { AppError } from '../../common/errors/app-error.js';
import type { Endpoint, EndpointId } from '../../providers/endpoint.js';
import type { Provider } from '../../providers/provider.js';
import type { Target } from '../types/target.js';
import { own } from '../../providers/dialects/untranslated.js';
import { hubOf, supportOf } from '../../providers/support.js';
import { providers } from '../../providers/registry.js';
import { clientShapes } from '../../providers/shapes/index.js';
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

/**
 * How a provider serves an endpoint that it does not have itself; null when the client's bytes are sent unchanged. That applies to an
 * endpoint that the provider has, to requests that the gateway does not read (a provider may have something of its own by that name), to
 * pass-through providers, and to a custom host of the caller, which may have more than the provider whose dialect it uses. Throws
 * `endpoint_unsupported`, which names providers that have the endpoint.
 */
export function translationFor(
  { provider, isCustomHost }: Target,
  endpoint: Endpoint | null,
): Translation | null {
  if (!endpoint || isUnread(endpoint) || provider.dialect === own) return null;
  const support = supportOf(provider, endpoint.id);
  if (support === 'native' || support === 'counted') return null;
  const translation = support === 'translated' ? translated(provider, endpoint.id) : null;
  if (isCustomHost) return isBelowBase(translation) ? translation : null;
  if (translation) return translation;
  throw new AppError('endpoint_unsupported', {
    provider: provider.id,
    endpoint: endpoint.title,
    detail: `Providers that have it: ${namesOf(endpoint.id)}.`,
  });
}

/** A custom host has it, too. */
const isBelowBase = (translation: Translation | null): boolean => !translation?.translator?.isBesideBase;

/** Neither the request nor the response is read. */
const isUnread = ({ body, usage }: Endpoint): boolean => body === 'opaque' && usage === null;

function translated(provider: Provider, endpoint: EndpointId): Translation {
  const shape = clientShapes[endpoint] ?? null;
  const hub = hubOf(endpoint);
  return { shape, translator: provider.dialect.translators?.[hub] ?? null, hub };
}

const NAMES_MAX = 12;

function namesOf(endpoint: EndpointId): string {
  const names = [...providers.values()].filter((row) => supportOf(row, endpoint)).map(({ id }) => id);
  return names.length > NAMES_MAX
    ? `${names.slice(0, NAMES_MAX).join(', ')} and ${names.length - NAMES_MAX} more`
    : names.join(', ');
}
