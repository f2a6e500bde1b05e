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
}

/** What a model costs: the rates of an ordinary request, and others where a long request costs more. */
export interface Price extends Rates {
  /** Ascending by threshold. */
  readonly tiers?: readonly PriceTier[];
}

/** The whole request is charged at these rates once its input is longer than the threshold. */
export interface PriceTier {
  readonly aboveInputTokens: number;
  readonly rates: Rates;
}
