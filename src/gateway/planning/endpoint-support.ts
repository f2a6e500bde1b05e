import { AppError } from '../../common/errors/app-error.js';
import type { Endpoint } from '../../providers/endpoint.js';
import type { Provider } from '../../providers/provider.js';
import { providers } from '../../providers/registry.js';

/** Refuses a first-class endpoint that the provider does not have, and names those that do. */
export function checkEndpoint(provider: Provider, endpoint: Endpoint | null): void {
  if (!endpoint || provider.endpoints.includes(endpoint.id)) return;
  const others = [...providers.values()]
    .filter((row) => row.endpoints.includes(endpoint.id))
    .map((row) => row.id);
  throw new AppError('endpoint_unsupported', {
    provider: provider.id,
    endpoint: endpoint.title,
    detail: `Providers that have it: ${others.join(', ')}.`,
  });
}
