import type { Price, Rates } from '../../common/contracts/price.js';
import { priceAmount, amountSchema, checkNames, objectAt, refusePrice, under } from './price-fields.js';
import {
  UNIT_PRICING_NAMES,
  UNIT_PRICING_SCHEMA,
  type UnitPricing,
  unitPricesIn,
  unitPricingOf,
} from './unit-pricing.js';

/** Cents per token become nano-dollars per million tokens: seven digits from the cent to the nano-dollar, six for the million. */
const DIGITS = 13;
const PER_CENT_AND_TOKEN = 10 ** DIGITS;

/** The compatible API's names of the kinds of tokens, and what each is the price of. */
const KINDS = {
  request_token: ['input', 'an input token'],
  response_token: ['output', 'an output token'],
  cache_read_input_token: ['cachedInput', 'an input token that the provider read from its prompt cache'],
  cache_write_input_token: ['cacheWrite', 'an input token that the provider wrote to its prompt cache'],
  request_audio_token: ['audioInput', 'an audio input token'],
  response_audio_token: ['audioOutput', 'an audio output token'],
  reasoning_token: ['reasoningOutput', 'a reasoning token'],
} as const satisfies Record<string, readonly [keyof Rates, string]>;

type PricingKind = keyof typeof KINDS;

/** A price in the compatible API's format: cents per token, unit or image. */
export interface PricingConfig {
  readonly type: 'static';
  readonly pay_as_you_go: Readonly<Partial<Record<PricingKind, { readonly price: number }>>> & UnitPricing;
}

const NAMES = Object.keys(KINDS) as PricingKind[];

const EXAMPLE = { request_token: { price: 0.00025 }, response_token: { price: 0.001 } };

/** For the OpenAPI document. */
export const PRICING_CONFIG_SCHEMA = {
  type: 'object' as const,
  properties: {
    type: { description: 'Kind of the price. Always `static`.', type: 'string' as const, enum: ['static'] },
    pay_as_you_go: {
      type: 'object' as const,
      description:
        'US cents per token, by kind. An omitted kind costs the same as the kind that includes it. ' +
        'A price without `request_token` and `response_token` needs units or images.',
      properties: {
        ...Object.fromEntries(NAMES.map((name) => [name, amountSchema(`Price of ${KINDS[name][1]}.`)])),
        ...UNIT_PRICING_SCHEMA,
      },
      // Within `allOf`, because generators of TypeScript lose the fields beside a plain `anyOf`.
      allOf: [
        {
          anyOf: [
            { required: ['request_token', 'response_token'] },
            { required: ['additional_units'] },
            { required: ['image'] },
          ],
        },
      ],
      example: EXAMPLE,
    },
  },
  // Within `allOf`, because the decorators of properties take `required` for themselves.
  allOf: [{ required: ['pay_as_you_go'] }],
  example: { type: 'static', pay_as_you_go: EXAMPLE },
};

/** Converts a price to the compatible API's format. */
export function pricingConfigOf(price: Price): PricingConfig {
  const kinds = NAMES.flatMap((name) => {
    const nano = price.isByUnitOnly ? null : price[KINDS[name][0]];
    return nano == null ? [] : [[name, { price: nano / PER_CENT_AND_TOKEN }] as const];
  });
  return {
    type: 'static',
    pay_as_you_go: { ...Object.fromEntries(kinds), ...unitPricingOf(price.units) },
  };
}

const MOST_MODELS = 500;
const LONGEST_MODEL = 256;

/** Reads prices by model. Refuses with `invalid_request`, naming the field. Null for none. */
export function pricesOf(given: Readonly<Record<string, unknown>> | null): Record<string, Price> | null {
  const entries = Object.entries(given ?? {});
  if (entries.length === 0) return null;
  if (entries.length > MOST_MODELS) refusePrice('model_pricing', `it may name at most ${MOST_MODELS} models`);
  return Object.fromEntries(
    entries.map(([model, config]) => {
      if (model === '' || model.length > LONGEST_MODEL)
        refusePrice('model_pricing', `a model has a name of 1 to ${LONGEST_MODEL} characters`);
      return [model, priceOf(config, `model_pricing.${model.slice(0, 64)}`)];
    }),
  );
}

/** Reads one price. Refuses with `invalid_request`, naming the field below `path`, or of the body. */
export function priceOf(given: unknown, path = ''): Price {
  const config = objectAt(given, path);
  checkNames(config, ['type', 'pay_as_you_go'], path);
  if (config.type !== undefined && config.type !== 'static')
    refusePrice(under(path, 'type'), 'it must be "static"');
  const below = under(path, 'pay_as_you_go');
  const kinds = objectAt(config.pay_as_you_go, below);
  checkNames(kinds, [...NAMES, ...UNIT_PRICING_NAMES], below);
  const units = unitPricesIn(kinds, below);
  if (units && !NAMES.some((name) => name in kinds)) return { ...NO_TOKENS, units, isByUnitOnly: true };
  return { ...ratesIn(kinds, below), ...(units && { units }) };
}

const NO_TOKENS: Rates = {
  input: 0,
  output: 0,
  cachedInput: null,
  cacheWrite: null,
  audioInput: null,
  audioOutput: null,
};

function ratesIn(kinds: Readonly<Record<string, unknown>>, below: string): Rates {
  const rate = (name: PricingKind): number | null =>
    kinds[name] === undefined ? null : priceAmount(kinds[name], `${below}.${name}`, DIGITS);
  return {
    input: rate('request_token') ?? refusePrice(below, 'it needs "request_token"'),
    output:
      rate('response_token') ??
      refusePrice(below, 'it needs "response_token"; write 0 for a model without output tokens'),
    cachedInput: rate('cache_read_input_token'),
    cacheWrite: rate('cache_write_input_token'),
    audioInput: rate('request_audio_token'),
    audioOutput: rate('response_audio_token'),
    reasoningOutput: rate('reasoning_token'),
  };
}
