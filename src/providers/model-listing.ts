import type { Secret } from '../common/settings/secret.js';
import { accountQuery, baseUrlOf, fieldsOfAccount } from './account-address.js';
import type { Provider } from './provider.js';
import { upstreamPath } from './upstream-path.js';

/** An account, as a virtual key stores it. */
export interface ListedAccount {
  readonly customHost: string | null;
  readonly fields: Readonly<Record<string, string>>;
  readonly key: Secret | null;
}

/** A request for a provider's models. `headers`: names and values in turn. */
export interface ListingRequest {
  readonly url: string;
  readonly headers: readonly string[];
}

interface Listing {
  /** Below the base URL. */
  readonly path?: string;
  readonly headers?: readonly string[];
}

/** Differences to `GET <base URL>/models`, by dialect. */
const LISTINGS: Readonly<Record<string, Listing>> = {
  // https://docs.anthropic.com/en/api/models-list
  anthropic: { headers: ['anthropic-version', '2023-06-01'] },
  // https://docs.cohere.com/reference/list-models
  cohere: { path: '/v1/models' },
  // https://docs.ollama.com/api/tags
  'ollama-native': { path: '/api/tags' },
};

const OPENAI_LIKE: Listing = {};

/** The request for an account's models. Only for providers whose credential is a header. */
export function listingRequest(provider: Provider, account: ListedAccount): ListingRequest {
  const { customHost } = account;
  const fields = fieldsOfAccount(provider, customHost, account.fields);
  const { origin, pathname } = new URL(customHost ?? baseUrlOf(provider, fields));
  const basePath = pathname.replace(/\/+$/, '');
  const { path = ownPath(provider, fields), headers = [] } = LISTINGS[provider.dialect.id] ?? OPENAI_LIKE;
  const query = accountQuery(provider, customHost, fields);
  const { auth } = provider;
  return {
    url: `${origin}${upstreamPath({ provider, basePath, isCustomHost: customHost !== null, fields }, path)}${query === '' ? '' : `?${query}`}`,
    headers: [
      ...headers,
      ...(provider.accountHeaders ?? []).flatMap(({ field, header }) => {
        const value = fields[field];
        return value === undefined || headers.includes(header) ? [] : [header, value];
      }),
      ...(account.key !== null && auth.header !== null ? [auth.header, auth.value(account.key)] : []),
    ],
  };
}

const ownPath = ({ dialect }: Provider, fields: ListedAccount['fields']): string =>
  dialect.pathOf?.({ endpoint: 'models', path: '/models', model: '', fields }) ?? '/models';

/** Model names in a response: OpenAI's `data[].id`, or the `models[]` of Google, Cohere and others. */
export function listedModels(answer: unknown): readonly string[] {
  const { data, models } = (typeof answer === 'object' && answer !== null ? answer : {}) as Record<
    string,
    unknown
  >;
  const list = Array.isArray(answer)
    ? answer
    : Array.isArray(data)
      ? data
      : Array.isArray(models)
        ? models
        : [];
  return list.map(nameOf).filter((name) => name !== '');
}

function nameOf(model: unknown): string {
  if (typeof model === 'string') return model;
  const { id, name } = (typeof model === 'object' && model !== null ? model : {}) as Record<string, unknown>;
  const found = typeof id === 'string' ? id : name;
  return typeof found === 'string' ? found.replace(/^models\//, '') : '';
}
