import type { AuthScheme } from './auth-scheme.js';
import type { Dialect } from './dialect.js';
import type { EndpointId } from './endpoint.js';
import type { Price } from './prices/price.js';

/**
 * Everything the gateway has to know of a provider. Data, with a few pure functions:
 * nothing here sends anything. What a provider cannot do is written nowhere.
 */
export interface Provider {
  readonly id: string;
  readonly name: string;
  /**
   * Where its API lives, without a trailing slash: `https://api.openai.com/v1`. The path that a client sends
   * below `/v1` is appended to it, so it contains the version part where the provider has one.
   */
  readonly baseUrl: string;
  readonly dialect: Dialect;
  readonly auth: AuthScheme;
  readonly endpoints: readonly EndpointId[];
  /** Request headers that carry the account besides the key, `x-gateway-openai-project` and the like. */
  readonly accountHeaders?: readonly AccountHeader[];
  /** Name of this provider in the price data, where it differs from `id`; null when the data does not know it. */
  readonly pricesId?: string | null;
  /** Prices that the row itself states, by model. They win over the price data. */
  readonly prices?: ReadonlyMap<string, Price>;
  /** Answers inside the process; there is no address to call. Only the sandbox. */
  readonly inProcess?: true;
  /** Page of the provider's documentation that the row was checked against. */
  readonly source: string;
  /** What that page left open, in a sentence for the operator. */
  readonly unverified?: string;
}

/** `x-gateway-<field>` from the client, or the field of a virtual key, becomes `header` upstream. */
export interface AccountHeader {
  readonly field: string;
  readonly header: string;
}
