/** Nano-dollars per token. */
export interface Price {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/** As published at openai.com/api/pricing; written down here a second time, so that a wrong list is found. */
export const PRICES: Readonly<Record<string, Price>> = {
  'gpt-4o-mini': { input: 150, cached: 75, output: 600 },
  'gpt-4o': { input: 2_500, cached: 1_250, output: 10_000 },
};

/** A model that nobody has a price for. */
export const UNPRICED = 'a-model-of-nobody';

export const costOf = (
  { input, cached, output }: { input: number; cached: number; output: number },
  price: Price,
): number => (input - cached) * price.input + cached * price.cached + output * price.output;
