import { AppError } from '../common/errors/app-error.js';
import { openAiCompatible } from './catalog/openai-compatible.js';
import { sandbox } from './catalog/sandbox.js';
import type { Provider } from './provider.js';

/** Every provider that the gateway knows, by id. */
export const providers: ReadonlyMap<string, Provider> = new Map(
  [...openAiCompatible, sandbox].map((provider) => [provider.id, provider]),
);

const known = [...providers.keys()].sort().join(', ');

/** The provider of exactly that id. Refuses with `provider_unknown`. */
export function findProvider(id: string): Provider {
  const provider = providers.get(id);
  if (!provider) throw new AppError('provider_unknown', { provider: shown(id), known });
  return provider;
}

/** An unknown id comes from the caller and goes into a message, so only as much of it as a name needs. */
const shown = (id: string): string => (id.length > 64 ? `${id.slice(0, 64)}…` : id);
