import { MOST_TOKENS, type Usage } from '../../../common/contracts/usage.js';
import { MOST_USD } from '../largest-numbers.js';

/** The numbers of a span that the log keeps, and why others are not kept. */
export interface SpanNumbers {
  readonly usage: Usage | null;
  readonly costNanoUsd: number | null;
  readonly warnings: readonly string[];
}

type NumberAttributes = ReadonlyMap<string, unknown>;

const NANO_PER_USD = 1_000_000_000;
const DECIMAL = /^[+-]?\d+(\.\d+)?(e[+-]?\d{1,3})?$/i;

const COUNTS = {
  input_tokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'],
  output_tokens: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'],
  cached_input_tokens: ['gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cached_tokens'],
} as const;

const COSTS = ['gen_ai.usage.cost', 'gen_ai.cost'] as const;

/** The names under which exporters report the currency of a cost; the semantic conventions define none. */
const CURRENCY = /^gen_ai\.(?:usage\.)?(?:cost[._])?currency$/;

/** The names of these attributes, which no metadata repeats. */
export const NUMBER_NAMES: readonly string[] = [...Object.values(COUNTS).flat(), ...COSTS];

/**
 * Reads usage and cost. A number that is reported but cannot be kept makes its usage or cost unknown, because the other half would be
 * charged as the whole.
 */
export function numbersOf(attributes: NumberAttributes): SpanNumbers {
  const warnings: string[] = [];
  const usage = usageOf(attributes, warnings);
  return { usage, costNanoUsd: costOf(attributes, warnings), warnings };
}

function usageOf(attributes: NumberAttributes, warnings: string[]): Usage | null {
  const counts: Partial<Record<keyof typeof COUNTS, number>> = {};
  let isWhole = true;
  for (const kind of Object.keys(COUNTS) as (keyof typeof COUNTS)[]) {
    const [name, value] = reported(attributes, COUNTS[kind]);
    if (value === undefined) continue;
    const count = countIn(value);
    if (count !== null) counts[kind] = count;
    else
      warnings.push(
        `"${name}" must be a whole number from 0 to ${MOST_TOKENS}; the span is kept without a usage`,
      );
    isWhole &&= count !== null;
  }
  if (!isWhole || (counts.input_tokens === undefined && counts.output_tokens === undefined)) return null;
  return { ...counts, input_tokens: counts.input_tokens ?? 0, output_tokens: counts.output_tokens ?? 0 };
}

function countIn(value: unknown): number | null {
  const count = numberOf(value);
  return Number.isInteger(count) && count >= 0 && count <= MOST_TOKENS ? count : null;
}

function costOf(attributes: NumberAttributes, warnings: string[]): number | null {
  const [name, value] = reported(attributes, COSTS);
  if (value === undefined) return null;
  const dollars = numberOf(value);
  if (!(dollars >= 0 && dollars <= MOST_USD)) {
    warnings.push(
      `"${name}" must be a number of US dollars from 0 to ${MOST_USD}; the span is kept without it`,
    );
    return null;
  }
  const currency = [...attributes].find(([other]) => CURRENCY.test(other));
  if (currency && !isUsDollar(currency[1])) {
    warnings.push(
      `"${name}" is kept in US dollars only, and "${currency[0]}" is not "USD"; the span is kept without it`,
    );
    return null;
  }
  return Math.round(dollars * NANO_PER_USD);
}

const isUsDollar = (currency: unknown): boolean =>
  typeof currency === 'string' && ['usd', 'us$', '$'].includes(currency.trim().toLowerCase());

/** The newest of these names that the span has, with its value. */
function reported(
  attributes: NumberAttributes,
  names: readonly string[],
): readonly [name: string, value: unknown] {
  const name = names.find((each) => attributes.get(each) !== undefined) ?? '';
  return [name, attributes.get(name)];
}

/** Exporters write numbers as texts, too. Everything else, such as `true` or an empty text, is no number. */
function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && DECIMAL.test(value) ? Number(value) : Number.NaN;
}
