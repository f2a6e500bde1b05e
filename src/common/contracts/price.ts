/**
 * Token prices by kind: nano-dollars (1e-9 USD) per million tokens, so that every published price is an integer: $0.15 per million tokens
 * is 150_000_000. A null kind is charged as the kind that contains it.
 */
export interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cachedInput: number | null;
  readonly cacheWrite: number | null;
  readonly audioInput: number | null;
  readonly audioOutput: number | null;
  /** Absent means null: almost every provider charges reasoning as output. */
  readonly reasoningOutput?: number | null;
  /** Tokens written to a cache for an hour. If null, usage with such tokens cannot be charged: they cost more than others. */
  readonly cacheWrite1h?: number | null;
  readonly cachedAudioInput?: number | null;
  readonly cachedImageInput?: number | null;
  readonly imageInput?: number | null;
  readonly videoInput?: number | null;
  readonly imageOutput?: number | null;
  readonly videoOutput?: number | null;
}

/** Prices besides tokens, in nano-dollars. Usage with a unit that has no price here cannot be charged. */
export interface UnitPrices extends OutputPrices {
  /** A thousand requests. If set, it includes searches. */
  readonly thousandRequests?: number;
  readonly thousandWebSearches?: number;
  readonly thousandFileSearches?: number;
  readonly millionCitationTokens?: number;
  readonly audioInputHour?: number;
  readonly thousandDocumentPages?: number;
  /** Replaces the price of a page. */
  readonly thousandAnnotatedPages?: number;
  /** Search units as billed by rerankers; a request with many documents counts as several. */
  readonly thousandSearchUnits?: number;
}

/**
 * Prices of generated media, in nano-dollars. Providers bill media either by these units or by output tokens, so these
 * prices do not apply to a usage with output tokens unless the price is `isByUnitOnly`.
 */
export interface OutputPrices {
  /** Text for speech synthesis. */
  readonly millionInputCharacters?: number;
  readonly audioOutputHour?: number;
  readonly videoOutputSecond?: number;
  readonly images?: readonly ImagePrice[];
}

/** The price of one generated image. `null` matches any size, or any quality; the most specific price applies. */
export interface ImagePrice {
  /** As in requests: `1024x1024`. */
  readonly size: string | null;
  readonly quality: string | null;
  /** Nano-dollars per image. */
  readonly amount: number;
}

/** The price of a model: rates for an ordinary request, and others if long requests cost more. */
export interface Price extends Rates {
  /** Ascending by threshold. */
  readonly tiers?: readonly PriceTier[];
  readonly units?: UnitPrices;
  /** Tokens have no price: usage with tokens and no unit cannot be charged. The rates are zero and meaningless. */
  readonly isByUnitOnly?: true;
  /** The minimum audio duration that a request with audio is charged for, milliseconds. */
  readonly leastAudioInputMs?: number;
}

/**
 * A price that was applied, without the kinds it does not define. `list`: the public price; `agreed`: the price of the virtual key, its
 * integration or the organization.
 */
export interface AppliedPrice
  extends Partial<Omit<Price, 'input' | 'output'>>, Pick<Rates, 'input' | 'output'> {
  readonly source: 'list' | 'agreed';
  /** The priced model: the one that responded, or else the requested one. */
  readonly model: string;
}

/** Requests have more input than output. Model prices are commonly compared at three to one. */
const INPUT_SHARE = 3 / 4;

/** The average price of a token, nano-dollars per million: three input tokens per output token. Null if tokens have no price. */
export function tokenPriceOf({ input, output, isByUnitOnly }: Price): number | null {
  return isByUnitOnly ? null : INPUT_SHARE * input + (1 - INPUT_SHARE) * output;
}

/** The whole request is charged at these rates once its input is longer than the threshold. */
export interface PriceTier {
  readonly aboveInputTokens: number;
  readonly rates: Rates;
}
