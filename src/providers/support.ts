import type { EndpointId } from './endpoint.js';
import type { Provider } from './provider.js';
import { clientFormats } from './client-formats/index.js';

/** How a provider serves an endpoint: natively, by the gateway's translation, or by the gateway's own count. */
export type Support = 'native' | 'translated' | 'counted';

/** The endpoint of the hub that every chat format is translated to. */
export const CHAT: EndpointId = 'chat-completions';

/** How a provider serves an endpoint; null when it cannot. */
export function supportOf(provider: Provider, endpoint: EndpointId): Support | null {
  const { endpoints, dialect } = provider;
  if (endpoints.includes(endpoint)) return 'native';
  const hub = hubOf(endpoint);
  const isReached = dialect.translators?.[hub] !== undefined || (hub !== endpoint && endpoints.includes(hub));
  if (isReached) return 'translated';
  return endpoint === 'count-tokens' && supportOf(provider, CHAT) ? 'counted' : null;
}

/** The endpoint of the hub that an endpoint of clients is translated to. */
export function hubOf(endpoint: EndpointId): EndpointId {
  const clientFormat = clientFormats[endpoint];
  return clientFormat ? (clientFormat.hub ?? CHAT) : endpoint;
}
