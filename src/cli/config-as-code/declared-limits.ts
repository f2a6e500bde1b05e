import type { JsonRecord } from './administration-client.js';
import { completed } from './change.js';

type DeclaredLimit = Readonly<Record<string, unknown>>;

/** A limit with its defaults, so that a file and the administration write the same limit the same way. */
const SPELLINGS = {
  rate_limits: ({ type, unit, value, on_store_failure = 'open' }: DeclaredLimit) =>
    completed({ type, unit, value, on_store_failure }),
  usage_limits: ({
    credit_limit,
    type = 'cost',
    alert_threshold,
    periodic_reset,
    periodic_reset_days,
  }: DeclaredLimit) =>
    completed({ type, credit_limit, alert_threshold, periodic_reset, periodic_reset_days }),
} as const;

/**
 * The limits among these fields, each kind as a list, without usage and without the start of a period, which changes.
 * The administration shows one budget of an API key as an object. An absent kind stays absent.
 */
export function limitsIn(fields: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(SPELLINGS).flatMap(([kind, spelled]) => {
      const limits = fields[kind];
      return limits === undefined ? [] : [[kind, listOf(limits).map(spelled)]];
    }),
  );
}

/** The same for a file, without empty kinds. */
export const limitsForFile = (thing: JsonRecord): JsonRecord =>
  Object.fromEntries(
    Object.entries(limitsIn(thing)).filter(([, limits]) => (limits as unknown[]).length > 0),
  );

const listOf = (limits: unknown): readonly DeclaredLimit[] =>
  (Array.isArray(limits) ? limits : [limits].filter((one) => one !== null)) as readonly DeclaredLimit[];
