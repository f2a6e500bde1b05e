import type { EndpointId } from '../endpoint.js';
import { supportOf } from '../endpoints/support.js';
import type { Price, Rates } from '../prices/price.js';
import type { Provider } from '../provider.js';
import { dollars } from './dollars.js';
import { endpointsOfModel } from './kinds.js';

/**
 * A model of `GET /v1/models`: OpenAI's shape, and what the gateway knows besides.
 * https://github.com/openai/openai-node/blob/master/src/resources/models.ts (Model)
 */
export interface ModelEntry {
  readonly id: string;
  readonly object: 'model';
  /** OpenAI's clients want a number here; nobody knows the time, so it is 0. */
  readonly created: 0;
  /** The provider, who is not always the maker. */
  readonly owned_by: string;
  readonly provider: string;
  /** The largest input in tokens; null when nobody knows it. */
  readonly context_length: number | null;
  /** Null when nobody knows it, which does not mean free. */
  readonly pricing: Pricing | null;
  /** Where the model can be named, at its provider. */
  readonly endpoints: readonly EndpointId[];
}

/** Dollars per million tokens, as exact decimals: `"0.15"`. A kind that is absent is charged as the one it is part of. */
export interface ModelRates {
  readonly input: string;
  readonly output: string;
  readonly cached_input?: string;
  readonly cache_write?: string;
  readonly audio_input?: string;
  readonly audio_output?: string;
  readonly reasoning_output?: string;
}

export interface Pricing extends ModelRates {
  /** Rates of the whole request, once its input is longer. */
  readonly tiers?: readonly (ModelRates & { readonly above_input_tokens: number })[];
}

/** What is said of a model of a provider, but for its price. `contextLength` is the largest input in tokens. */
export function modelEntry(id: string, provider: Provider, contextLength: number | null): ModelEntry {
  return {
    id,
    object: 'model',
    created: 0,
    owned_by: provider.id,
    provider: provider.id,
    context_length: contextLength,
    pricing: null,
    endpoints: endpointsOfModel(id).filter((endpoint) => supportOf(provider, endpoint) !== null),
  };
}

/** The model at a price; null where nobody knows it. */
export function withPrice(entry: ModelEntry, price: Price | null): ModelEntry {
  return price ? { ...entry, pricing: pricingOf(price) } : entry;
}

function pricingOf({ tiers = [], ...rates }: Price): Pricing {
  if (tiers.length === 0) return ratesOf(rates);
  return {
    ...ratesOf(rates),
    tiers: tiers.map((tier) => ({ above_input_tokens: tier.aboveInputTokens, ...ratesOf(tier.rates) })),
  };
}

/** How the finer kinds are called. */
const NAMES = {
  cachedInput: 'cached_input',
  cacheWrite: 'cache_write',
  audioInput: 'audio_input',
  audioOutput: 'audio_output',
  reasoningOutput: 'reasoning_output',
} as const satisfies Record<Exclude<keyof Rates, 'input' | 'output'>, keyof ModelRates>;

const FINER = Object.keys(NAMES) as readonly (keyof typeof NAMES)[];

function ratesOf(rates: Rates): ModelRates {
  const told: Partial<Record<keyof ModelRates, string>> = {};
  for (const kind of FINER) {
    const rate = rates[kind];
    if (rate !== null && rate !== undefined) told[NAMES[kind]] = dollars(rate);
  }
  return { input: dollars(rates.input), output: dollars(rates.output), ...told };
}
