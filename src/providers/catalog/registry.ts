import { AppError } from '../../common/errors/app-error.js';
import { didYouMean } from '../../common/text/nearest-names.js';
import { catalog } from './index.js';
import type { Provider } from '../provider.js';

/** Every provider of the catalogue, by id. */
export const providers: ReadonlyMap<string, Provider> = new Map(
  catalog.flatMap(({ rows }) => rows).map((provider) => [provider.id, provider]),
);

/** The provider of exactly that id. Throws `provider_unknown`, which suggests similar ids. */
export function findProvider(id: string): Provider {
  const provider = providers.get(id);
  if (!provider) throw unknown(shown(id));
  return provider;
}

/** An unknown id comes from the caller and is quoted in an error, so it is cut to the length of a name. */
const shown = (id: string): string => (id.length > 64 ? `${id.slice(0, 64)}…` : id);

const unknown = (provider: string): AppError =>
  new AppError('provider_unknown', {
    provider,
    hint: didYouMean(provider, providers.keys()),
    count: providers.size,
  });
