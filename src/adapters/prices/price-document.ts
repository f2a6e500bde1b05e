import type { MatchLogic, ModelInfo } from '@pydantic/genai-prices';
import { z } from 'zod';
import { namePattern, namePatternProblem } from './name-pattern.js';

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

const dollars = z.number().nonnegative();
const rate = z.union([
  dollars,
  z.looseObject({
    base: dollars,
    tiers: z.array(z.looseObject({ start: z.number().int().nonnegative(), price: dollars })),
  }),
]);
const prices = z.record(z.string(), rate);

const time = z.string().regex(/^\d{2}:\d{2}/);
const constraint = z.union([
  z.looseObject({ start_date: z.iso.date() }).transform((it) => ({ ...it, type: 'start_date' as const })),
  z
    .looseObject({ start_time: time, end_time: time })
    .transform((it) => ({ ...it, type: 'time_of_date' as const })),
]);
const conditional = z.looseObject({ constraint: constraint.nullish(), prices });

const pattern = z.string().superRefine((source, context) => {
  const problem = namePatternProblem(source);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});

const match: z.ZodType<MatchLogic> = z.lazy(() =>
  z.union([
    z.object({ equals: z.string() }),
    z.object({ starts_with: z.string() }),
    z.object({ ends_with: z.string() }),
    z.object({ contains: z.string() }),
    z.object({ regex: pattern }),
    z.object({ or: z.array(match) }),
    z.object({ and: z.array(match) }),
  ]),
);

const model = z.looseObject({
  id: z.string().min(1),
  match,
  context_window: z.number().int().positive().nullish(),
  deprecated: z.boolean().nullish(),
  name: z.string().nullish(),
  prices: z.union([z.array(conditional), prices]),
});

const priceDocument = z
  .array(z.looseObject({ id: z.string().min(1), models: z.array(model) }))
  .min(1, 'names no provider');

const MISTAKES_MAX = 10;

/**
 * Reads a document in the format of https://github.com/pydantic/genai-prices (`prices/data.json`): a list of providers with their models.
 * Fields that the gateway does not need are ignored. Throws a `PriceDocumentError`.
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
    return JSON.parse(text);
  } catch (error) {
    throw new PriceDocumentError(`It is not JSON: ${(error as Error).message}`);
  }
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
