import type { Entry } from '../journal/entry.js';
import type { Target } from '../types/target.js';

/** The client's own path, but where the provider's dialect knows a better one for an endpoint. */
export function ownPath(
  { provider, credentials }: Target,
  { endpoint, model }: Pick<Entry, 'endpoint' | 'model'>,
  path: string,
): string {
  const { pathOf } = provider.dialect;
  if (!pathOf || !endpoint) return path;
  return pathOf({ endpoint: endpoint.id, path, model: model ?? '', fields: credentials.fields });
}

/** A path with further parameters. */
export function joined(path: string, query: string): string {
  if (query === '') return path;
  return path.includes('?') ? `${path}&${query}` : `${path}?${query}`;
}
