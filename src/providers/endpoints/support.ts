import type { EndpointId } from '../endpoint.js';
import type { Provider } from '../provider.js';
import { clientShapes } from '../shapes/index.js';

/** How a provider serves an endpoint: it has it itself, or the gateway translates. */
export type Support = 'native' | 'translated';

/** The endpoint of the hub that every shape of chat is translated to. */
export const CHAT: EndpointId = 'chat-completions';

/** How a provider serves an endpoint; null when it cannot. */
export function supportOf({ endpoints, dialect }: Provider, endpoint: EndpointId): Support | null {
  if (endpoints.includes(endpoint)) return 'native';
  const isShape = clientShapes[endpoint] !== undefined;
  const hub = isShape ? CHAT : endpoint;
  const isReached = dialect.translators?.[hub] !== undefined || (isShape && endpoints.includes(hub));
  return isReached ? 'translated' : null;
}
