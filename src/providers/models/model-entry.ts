import type { EndpointId } from '../endpoint.js';
import { supportOf } from '../support.js';
import type { Price, Rates, UnitPrices } from '../prices/price.js';
import type { Provider } from '../provider.js';
import { endpointsOfModel } from './kinds.js';

/**
 * A model of `GET /v1/models`: OpenAI's format, with the fields that Anthropic's clients read and the gateway's additions.
 * https://github.com/openai/openai-node/blob/master/src/resources/models.ts (Model)
 * https://platform.claude.com/docs/en/api/models-list
 */
export interface ModelEntry {
  readonly id: string;
  readonly object: 'model';
  /** Anthropic's word for `object`. */
  readonly type: 'model';
  /** For people: "Claude Opus 5.5". The id if it is unknown. */
  readonly display_name: string;
  /** Seconds; the day in the name. Clients require a number, so it is 0 if the name has none. */
  readonly created: number;
  /** The same as a date, as Anthropic's clients read it: the epoch if it is unknown. */
  readonly created_at: string;
  /** The provider, which is not always the maker. */
  readonly owned_by: string;
  readonly provider: string;
  /** The largest input in tokens; null when it is unknown. */
  readonly context_length: number | null;
  /** Null when it is unknown, which does not mean free. */
  readonly pricing: Pricing | null;
  /** The endpoints that accept the model, at its provider. */
  readonly endpoints: readonly EndpointId[];
}

/** Dollars per million tokens, as exact decimals: `"0.15"`. An absent kind is charged as the kind it is part of. */
export interface ModelRates {
  /** Absent, with `output`, if only units have a price. */
  readonly input?: string;
  readonly output?: string;
  readonly cached_input?: string;
  readonly cache_write?: string;
  readonly audio_input?: string;
  readonly audio_output?: string;
  readonly reasoning_output?: string;
  readonly cache_write_1h?: string;
  readonly cached_audio_input?: string;
  readonly cached_image_input?: string;
  readonly image_input?: string;
  readonly video_input?: string;
  readonly image_output?: string;
  readonly video_output?: string;
}

/** Dollars for units besides tokens. */
export interface ModelUnits {
  readonly thousand_requests?: string;
  readonly thousand_web_searches?: string;
  readonly thousand_file_searches?: string;
  readonly million_citation_tokens?: string;
  readonly audio_input_hour?: string;
  readonly thousand_document_pages?: string;
  /** Replaces the price of a page; the two are not added. */
  readonly thousand_annotated_pages?: string;
  readonly thousand_search_units?: string;
  readonly million_input_characters?: string;
  readonly audio_output_hour?: string;
  readonly video_output_second?: string;
  readonly images?: readonly ModelImagePrice[];
}

/** Dollars per generated image. Null matches every size, or every quality; the most specific price applies. */
export interface ModelImagePrice {
  readonly size: string | null;
  readonly quality: string | null;
  readonly price: string;
}

export interface Pricing extends ModelRates {
  readonly units?: ModelUnits;
  /** Rates of the whole request if its input is longer. */
  readonly tiers?: readonly (ModelRates & { readonly above_input_tokens: number })[];
}

/** The entry of a provider's model, without its price. `contextLength` is the largest input in tokens. */
export function modelEntry(
  id: string,
  provider: Provider,
  contextLength: number | null,
  name: string | null = null,
): ModelEntry {
  const createdMs = dayIn(id);
  return {
    id,
    object: 'model',
    type: 'model',
    display_name: name ?? id,
    created: createdMs / 1000,
    created_at: new Date(createdMs).toISOString().replace('.000', ''),
    owned_by: provider.id,
    provider: provider.id,
    context_length: contextLength,
    pricing: null,
    endpoints: endpointsOfModel(id).filter((endpoint) => supportOf(provider, endpoint) !== null),
  };
}

/** A snapshot has its day at the end of its name: `gpt-4o-2024-08-06`, `claude-haiku-4-5-20251001`. */
const DAY_AT_THE_END = /-(20\d\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])$/;

function dayIn(id: string): number {
  const [, year, month, day] = DAY_AT_THE_END.exec(id) ?? [];
  return year === undefined ? 0 : Date.parse(`${year}-${month}-${day}`) || 0;
}

/** The model at a price; null if it is unknown. */
export function withPrice(entry: ModelEntry, price: Price | null): ModelEntry {
  return price ? { ...entry, pricing: pricingOf(price) } : entry;
}

function pricingOf({ tiers = [], units, isByUnitOnly, ...rates }: Price): Pricing {
  const charged = {
    ...(isByUnitOnly ? {} : ratesOf(rates)),
    ...(units ? { units: chargedUnits(units) } : {}),
  };
  if (tiers.length === 0) return charged;
  return {
    ...charged,
    tiers: tiers.map((tier) => ({ above_input_tokens: tier.aboveInputTokens, ...ratesOf(tier.rates) })),
  };
}

/** Names of the finer kinds. */
const NAMES = {
  cachedInput: 'cached_input',
  cacheWrite: 'cache_write',
  audioInput: 'audio_input',
  audioOutput: 'audio_output',
  reasoningOutput: 'reasoning_output',
  cacheWrite1h: 'cache_write_1h',
  cachedAudioInput: 'cached_audio_input',
  cachedImageInput: 'cached_image_input',
  imageInput: 'image_input',
  videoInput: 'video_input',
  imageOutput: 'image_output',
  videoOutput: 'video_output',
} as const satisfies Record<Exclude<keyof Rates, 'input' | 'output'>, keyof ModelRates>;

const UNIT_NAMES = {
  thousandRequests: 'thousand_requests',
  thousandWebSearches: 'thousand_web_searches',
  thousandFileSearches: 'thousand_file_searches',
  millionCitationTokens: 'million_citation_tokens',
  audioInputHour: 'audio_input_hour',
  thousandDocumentPages: 'thousand_document_pages',
  thousandAnnotatedPages: 'thousand_annotated_pages',
  thousandSearchUnits: 'thousand_search_units',
  millionInputCharacters: 'million_input_characters',
  audioOutputHour: 'audio_output_hour',
  videoOutputSecond: 'video_output_second',
} as const satisfies Record<Exclude<keyof UnitPrices, 'images'>, keyof ModelUnits>;

function chargedUnits({ images, ...units }: UnitPrices): ModelUnits {
  const kinds = Object.keys(units) as (keyof typeof units)[];
  return {
    ...Object.fromEntries(kinds.map((kind) => [UNIT_NAMES[kind], dollars(units[kind] ?? 0)])),
    ...(images && { images: images.map(({ amount, ...image }) => ({ ...image, price: dollars(amount) })) }),
  };
}

const FINER = Object.keys(NAMES) as readonly (keyof typeof NAMES)[];

function ratesOf(rates: Rates): ModelRates {
  const shown: Partial<Record<keyof ModelRates, string>> = {};
  for (const kind of FINER) {
    const rate = rates[kind];
    if (rate !== null && rate !== undefined) shown[NAMES[kind]] = dollars(rate);
  }
  return { input: dollars(rates.input), output: dollars(rates.output), ...shown };
}

const NANO_DIGITS = 9;

/** Whole nano-dollars as dollars, exactly and without trailing zeros: 150_000_000 is `0.15`. */
export function dollars(nano: number): string {
  const digits = String(nano).padStart(NANO_DIGITS + 1, '0');
  const fraction = digits.slice(-NANO_DIGITS).replace(/0+$/, '');
  const whole = digits.slice(0, -NANO_DIGITS);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
