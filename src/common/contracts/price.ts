/**
 * What tokens cost, by kind: nano-dollars (1e-9 USD) per million tokens, so that every published price is an
 * integer: $0.15 per million tokens is 150_000_000. A kind that is null is charged as the kind it is part of.
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
  /** What is kept in the cache for an hour. Where it is null, a usage that has such tokens cannot be charged: it costs more than others. */
  readonly cacheWrite1h?: number | null;
  readonly cachedAudioInput?: number | null;
  readonly cachedImageInput?: number | null;
  readonly imageInput?: number | null;
  readonly videoInput?: number | null;
  readonly imageOutput?: number | null;
  readonly videoOutput?: number | null;
}

/** What is charged beside tokens, in nano-dollars. A usage with a unit that has no price here cannot be charged. */
export interface UnitPrices extends OutputPrices {
  /** A thousand requests. Where there is one, searches are part of it. */
  readonly thousandRequests?: number;
  readonly thousandWebSearches?: number;
  readonly thousandFileSearches?: number;
  readonly millionCitationTokens?: number;
  readonly audioInputHour?: number;
  readonly thousandDocumentPages?: number;
  /** Instead of the price of a page, not beside it. */
  readonly thousandAnnotatedPages?: number;
  /** Searches as rerankers bill them; a request with many documents counts as several. */
  readonly thousandSearchUnits?: number;
}

/**
 * Prices of generated media, in nano-dollars. Providers bill media either by these units or by output tokens, so these
 * prices do not apply to a usage with output tokens unless the price is `isByUnitOnly`.
 */
export interface OutputPrices {
  /** Text that becomes speech. */
  readonly millionInputCharacters?: number;
  readonly audioOutputHour?: number;
  readonly videoOutputSecond?: number;
  readonly images?: readonly ImagePrice[];
}

/** The price of one generated image. `null` matches every size, or every quality; the most specific price applies. */
export interface ImagePrice {
  /** As in requests: `1024x1024`. */
  readonly size: string | null;
  readonly quality: string | null;
  /** Nano-dollars per image. */
  readonly amount: number;
}

/** What a model costs: the rates of an ordinary request, and others where a long request costs more. */
export interface Price extends Rates {
  /** Ascending by threshold. */
  readonly tiers?: readonly PriceTier[];
  readonly units?: UnitPrices;
  /** Tokens have no price: a usage that has them and no unit cannot be charged. The rates are zero and mean nothing. */
  readonly isByUnitOnly?: true;
  /** A request with sound is charged as if it had so much at least, milliseconds. */
  readonly leastAudioInputMs?: number;
}

/** A price that was applied, without the kinds that it does not name. `list`: what everybody pays; `agreed`: what the virtual key, its integration or the organization says. */
export interface AppliedPrice
  extends Partial<Omit<Price, 'input' | 'output'>>, Pick<Rates, 'input' | 'output'> {
  readonly source: 'list' | 'agreed';
  /** Whose price it is: the model that answered, or else the one that was asked for. */
  readonly model: string;
}

/** Requests read more than they write. Three to one is how prices of models are commonly compared. */
const INPUT_SHARE = 3 / 4;

/** What a token costs on average, nano-dollars per million: three read for each that is written. Null where tokens have no price. */
export function tokenPriceOf({ input, output, isByUnitOnly }: Price): number | null {
  return isByUnitOnly ? null : INPUT_SHARE * input + (1 - INPUT_SHARE) * output;
}

/** The whole request is charged at these rates once its input is longer than the threshold. */
export interface PriceTier {
  readonly aboveInputTokens: number;
  readonly rates: Rates;
}
