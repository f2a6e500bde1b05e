import type { MatchLogic, ModelInfo } from '@pydantic/genai-prices';
import { z } from 'zod';
import { duplicateMemberAt } from '../../common/json/duplicate-members.js';
import { eitherSchema, strict } from './exact-schemas.js';
import { namePattern, namePatternProblem } from './name-pattern.js';
import { PRICE_MEMBERS } from './price-members.js';

/** The models of one provider in a price document. */
export interface PricedProvider {
  /** As in the price data: `Provider.pricesId`. */
  readonly id: string;
  readonly models: readonly ModelInfo[];
}

/** A document that cannot be used, with each mistake on a line. */
export class PriceDocumentError extends Error {
  override readonly name = 'PriceDocumentError';
}

/** The most that a price can be. The dearest in the public data is 600 dollars. */
const DOLLARS_MAX = 100_000;

const dollars = z
  .number()
  .nonnegative()
  .max(DOLLARS_MAX, `must be at most ${DOLLARS_MAX.toLocaleString('en')} dollars`);
const rate = eitherSchema(
  (it) => typeof it === 'number',
  dollars,
  strict({
    base: dollars,
    tiers: z.array(strict({ start: z.number().int().nonnegative(), price: dollars })),
  }),
);
const prices = strict(Object.fromEntries(PRICE_MEMBERS.map((name) => [name, rate.optional()])));

const time = z.string().regex(/^\d{2}:\d{2}/);
const constraint = eitherSchema(
  (it) => 'start_date' in Object(it),
  strict({ start_date: z.iso.date(), type: z.literal('start_date').default('start_date') }),
  strict({ start_time: time, end_time: time, type: z.literal('time_of_date').default('time_of_date') }),
);
const conditional = strict({ constraint: constraint.nullish(), prices });

const pattern = z.string().superRefine((source, context) => {
  const problem = namePatternProblem(source);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});

const match: z.ZodType = z.lazy(() =>
  strict({
    equals: z.string().optional(),
    starts_with: z.string().optional(),
    ends_with: z.string().optional(),
    contains: z.string().optional(),
    regex: pattern.optional(),
    or: z.array(match).optional(),
    and: z.array(match).optional(),
  }).refine((rule) => Object.keys(rule).length === 1, 'must have exactly one rule'),
);

const model = strict({
  id: z.string().min(1),
  match,
  context_window: z.number().int().positive().nullish(),
  deprecated: z.boolean().nullish(),
  name: z.string().nullish(),
  description: z.string().nullish(),
  price_comments: z.string().nullish(),
  prices: eitherSchema(Array.isArray, z.array(conditional), prices),
});

const priceDocument = z
  .array(z.looseObject({ id: z.string().min(1), models: z.array(model) }))
  .min(1, 'names no provider');

const MISTAKES_MAX = 10;

/**
 * Reads a document in the format of https://github.com/pydantic/genai-prices (`prices/data.json`): a list of providers with their models.
 * A member that the format does not have is a mistake: a price under a mistyped name would be free. Throws a `PriceDocumentError`.
 */
export function readPriceDocument(text: string): readonly PricedProvider[] {
  const read = priceDocument.safeParse(parsed(text));
  if (read.success) return read.data as unknown as readonly PricedProvider[];
  const lines = read.error.issues.map(({ path, message }) => `${placeOf(path)}: ${message}`);
  const more = lines.length > MISTAKES_MAX ? [`and ${lines.length - MISTAKES_MAX} more`] : [];
  throw new PriceDocumentError([...lines.slice(0, MISTAKES_MAX), ...more].join('\n'));
}

function parsed(text: string): unknown {
  try {
    const document: unknown = JSON.parse(text);
    checkRepeated(text);
    return document;
  } catch (error) {
    if (error instanceof SyntaxError) throw new PriceDocumentError(`It is not JSON: ${error.message}`);
    throw error;
  }
}

function checkRepeated(text: string): void {
  const duplicate = duplicateMemberAt(text);
  if (!duplicate) return;
  const lines = text.slice(0, duplicate.at).split('\n');
  const place = `Line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
  throw new PriceDocumentError(`${place}: "${duplicate.name}" occurs twice in one object`);
}

/** `[0].models[2].prices` */
const placeOf = (path: readonly PropertyKey[]): string =>
  path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('') ||
  'The document';

/** Whether the rules of an entry accept a name, which is compared in lower case as the price data is. */
export function matches(rule: MatchLogic, name: string): boolean {
  if ('equals' in rule) return rule.equals.toLowerCase() === name;
  if ('starts_with' in rule) return name.startsWith(rule.starts_with.toLowerCase());
  if ('ends_with' in rule) return name.endsWith(rule.ends_with.toLowerCase());
  if ('contains' in rule) return name.includes(rule.contains.toLowerCase());
  if ('regex' in rule) return namePattern(rule.regex).test(name);
  return 'or' in rule
    ? rule.or.some((each) => matches(each, name))
    : rule.and.every((each) => matches(each, name));
}
