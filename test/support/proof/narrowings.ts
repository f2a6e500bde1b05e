import { randomUUID } from 'node:crypto';
import type { SeededRandom } from '../random.js';
import { type Fact, NANO_PER_CENT, tokensOf, userOf } from './facts.js';

/** A filter with a value: what is asked, and what fits. */
export interface Narrowing {
  readonly query: Readonly<Record<string, string>>;
  readonly fits: (fact: Fact) => boolean;
}

type Draw = (
  facts: readonly Fact[],
  random: SeededRandom,
) => readonly [value: string, fits: Narrowing['fits']];

/** One or two of the values that there are. Nothing fits an empty value, which is absent. */
const anyOf =
  (valueOf: (fact: Fact) => string): Draw =>
  (facts, random) => {
    const there = [...new Set(facts.map(valueOf))].filter((value) => value !== '').sort();
    const wanted = there.length === 0 ? ['there-is-none'] : [random.of(there), random.of(there)];
    return [wanted.join(','), (fact) => valueOf(fact) !== '' && wanted.includes(valueOf(fact))];
  };

const bound =
  (valueOf: (fact: Fact) => number | null, end: 'min' | 'max', digits = 0): Draw =>
  (facts, random) => {
    const there = facts.map(valueOf).filter((value) => value !== null);
    const text = (there.length === 0 ? 1 : random.of(there)).toFixed(digits);
    const limit = Number(text);
    return [
      text,
      (fact) => {
        const value = valueOf(fact);
        return value !== null && (end === 'min' ? value >= limit : value <= limit);
      },
    ];
  };

const bounds = (name: string, valueOf: (fact: Fact) => number | null, digits?: number) => ({
  [`${name}_min`]: bound(valueOf, 'min', digits),
  [`${name}_max`]: bound(valueOf, 'max', digits),
});

const truth =
  (isTrue: (fact: Fact) => boolean): Draw =>
  (_, random) => {
    const wanted = random.is(0.5);
    return [String(wanted), (fact) => isTrue(fact) === wanted];
  };

const noneHas = (): readonly [string, Narrowing['fits']] => [randomUUID(), () => false];

const totalOf = (fact: Fact): number | null =>
  fact.input === null && fact.output === null ? null : tokensOf(fact);

const model = anyOf((fact) => fact.model);
const provider = anyOf((fact) => fact.provider);
const keys = anyOf((fact) => fact.keyId);
const virtualKeys = anyOf((fact) => fact.virtualKey);
const configs = anyOf((fact) => fact.config);

function someMetadata(facts: readonly Fact[], random: SeededRandom): readonly (readonly [string, string])[] {
  const given = facts.flatMap((fact) => (fact.metadata ? [Object.entries(fact.metadata)] : []));
  const entries = given.length === 0 ? [['none', 'none'] as [string, string]] : random.of(given);
  const first = random.of(entries);
  return random.is(0.5) ? [first] : [first, random.of(entries)];
}

const has =
  (entries: readonly (readonly [string, string])[]) =>
  ({ metadata }: Fact): boolean =>
    entries.every(([key, value]) => metadata?.[key] === value);

/** The filters by values, each of which has a negation. */
const VALUES: Readonly<Record<string, Draw>> = {
  status_code: anyOf(({ status }) => String(status)),
  error_code: anyOf(({ errorCode }) => errorCode),
  cache_status: anyOf(({ cacheStatus }) => cacheStatus),
  ai_org: provider,
  provider,
  ai_model: model,
  model,
  ai_org_model: anyOf((fact) => `${fact.provider}__${fact.model}`),
  endpoint: anyOf(({ endpoint }) => endpoint),
  ending: anyOf(({ ending }) => ending),
  api_key_id: keys,
  api_key_ids: keys,
  virtual_key: virtualKeys,
  virtual_keys: virtualKeys,
  config: configs,
  configs,
  prompt_slug: anyOf(({ prompt }) => prompt),
  user: anyOf(userOf),
  user_id: noneHas,
  source: anyOf(({ source }) => source),
  service_tier: noneHas,
  trace_id: anyOf(({ trace }) => trace),
  span_id: anyOf(({ span }) => span),
  metadata: (facts, random) => {
    const entries = someMetadata(facts, random);
    return [JSON.stringify(Object.fromEntries(entries)), has(entries)];
  },
};

/** Fits whatever the filter itself does not, also where the value is unknown. */
const negated =
  (draw: Draw): Draw =>
  (facts, random) => {
    const [value, fits] = draw(facts, random);
    return [value, (fact) => !fits(fact)];
  };

/** By the name of the parameter: every filter there is but those of `TIMES`. */
export const NARROWINGS: Readonly<Record<string, Draw>> = {
  ...bounds('total_units', totalOf),
  // Cents with all of their nano-dollars, so that the bound itself is met.
  ...bounds('cost', ({ cost }) => (cost === null ? null : cost / NANO_PER_CENT), 7),
  ...bounds('prompt_token', ({ input }) => input),
  ...bounds('completion_token', ({ output }) => output),
  ...bounds('response_time', ({ durationMs }) => durationMs),
  ...bounds('weighted_feedback', ({ feedback }) => feedback, 2),
  has_feedback: truth(({ feedback }) => feedback !== null),
  ...bounds('status_code', ({ status }) => status),
  is_success: truth(({ status }) => status < 400),
  ...VALUES,
  ...Object.fromEntries(Object.entries(VALUES).map(([name, draw]) => [`not_${name}`, negated(draw)])),
};

/** The filters of times: of arrival, which the analytics take for their range, and of the first token, which the gateway alone can time. */
export const TIMES: readonly string[] = [
  'time_of_generation_min',
  'time_of_generation_max',
  'created_at_min',
  'created_at_max',
  'time_to_first_token_min',
  'time_to_first_token_max',
];

export function narrowingOf(name: string, facts: readonly Fact[], random: SeededRandom): Narrowing {
  const draw = NARROWINGS[name];
  if (!draw) throw new Error(`There is no filter ${name}.`);
  const [value, fits] = draw(facts, random);
  return { query: { [name]: value }, fits };
}

/** By one key of the metadata, in the spelling of the analytics. The empty value is one that was given. */
export function byOneKey(facts: readonly Fact[], random: SeededRandom): Narrowing {
  const [[key, value]] = someMetadata(facts, random) as readonly [readonly [string, string]];
  return { query: { [`metadata[${key}]`]: value }, fits: has([[key, value]]) };
}

/** Two filters at once, each drawn out of what there is. */
export function aPair(facts: readonly Fact[], random: SeededRandom): Narrowing {
  const names = Object.keys(NARROWINGS);
  const first = random.of(names);
  const second = random.of(names.filter((name) => name !== first));
  const [one, other] = [narrowingOf(first, facts, random), narrowingOf(second, facts, random)];
  return {
    query: { ...one.query, ...other.query },
    fits: (fact) => one.fits(fact) && other.fits(fact),
  };
}
