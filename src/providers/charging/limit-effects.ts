import type { ChargeKind, ChargeRow } from './charge.js';
import { sessionRows } from './sessions.js';
import { chargeRows } from './table.js';

/** Kinds of limits, in the order of the documentation. */
export const LIMIT_KINDS = [
  'requests',
  'concurrency',
  'token rate',
  'token budget',
  'dollar budget',
] as const;

export type LimitKind = (typeof LIMIT_KINDS)[number];

/**
 * What a used-up limit does to a request. `refused`: as the kind of limit refuses. `unmeasured`: refused with `usage_unknown`, used up or
 * not. `unaffected`: the request uses nothing that the limit counts.
 */
export type LimitEffect = 'refused' | 'unmeasured' | 'unaffected';

/** Where a limit can be. */
export const LIMIT_PLACES = ['API key', 'workspace', 'virtual key', 'policy'] as const;

export type LimitLevel = (typeof LIMIT_PLACES)[number];

/** One kind of use, and what each kind of limit does to it. */
export interface LimitEffectRow {
  readonly path: string;
  readonly effects: Readonly<Record<LimitKind, LimitEffect>>;
  /** Of the limit. Absent: the effects are the same for all. */
  readonly places?: readonly LimitLevel[];
}

const byUse = (
  use: LimitEffect,
  request: LimitEffect = 'refused',
  slot = request,
): LimitEffectRow['effects'] => ({
  requests: request,
  concurrency: slot,
  'token rate': use,
  'token budget': use,
  'dollar budget': use,
});

/** What each kind of limit does to a request with this charge. */
export function effectsOf(charge: ChargeKind): LimitEffectRow['effects'] {
  if (charge === 'nothing') return byUse('unaffected');
  if (charge === 'unmeasured') return byUse('unmeasured');
  return charge.hasNoTokens ? { ...byUse('unaffected'), 'dollar budget': 'refused' } : byUse('refused');
}

/** The row of the charging table, by the first of its paths. */
const rowOf = ({ operations, charge }: ChargeRow): LimitEffectRow => {
  const [first, ...more] = operations.map(({ path }) => `\`${path}\``);
  return { path: `${first}${more.length > 0 ? ` and ${more.length} more` : ''}`, effects: effectsOf(charge) };
};

const session = `WebSocket ${sessionRows.map(({ path }) => `\`${path}\``).join(' and ')}`;

/** Kinds of use that are no path of their own. The tests have a scenario of each, by its name here. */
export const otherEffectRows = {
  unknownPath: { path: 'any other path, and `PUT` and `PATCH`', effects: effectsOf('unmeasured') },
  read: { path: '`GET`, `HEAD` and `DELETE`, such as stored responses', effects: effectsOf('nothing') },
  cacheHit: { path: 'a response from the cache', effects: effectsOf('nothing') },
  sharedResponse: {
    path: 'a request that waits for the response to an identical one',
    effects: effectsOf('nothing'),
  },
  attemptUnderVirtualKey: {
    path: 'a retry, a fallback, the second attempt of a hedge, or a side call for semantic caching, under a virtual key',
    effects: byUse('refused'),
    places: ['virtual key'],
  },
  attemptElsewhere: {
    path: 'a retry, a fallback, the second attempt of a hedge, or a side call for semantic caching, under other places',
    effects: byUse('refused', 'unaffected'),
    places: ['API key', 'workspace', 'policy'],
  },
  guardrailCall: {
    path: 'a call of a guardrail to a provider',
    effects: byUse('unaffected', 'unaffected'),
  },
  sessionOpening: { path: `${session}, when it opens`, effects: byUse('refused') },
  sessionResponse: {
    path: `${session}, each further response`,
    effects: byUse('refused', 'refused', 'unaffected'),
  },
  unknownSession: { path: 'any other WebSocket', effects: effectsOf('unmeasured') },
} as const satisfies Readonly<Record<string, LimitEffectRow>>;

export type OtherEffectId = keyof typeof otherEffectRows;

/** Every kind of use, with the effect of each kind of limit. */
export const limitEffectRows: readonly LimitEffectRow[] = [
  ...chargeRows.map(rowOf),
  ...Object.values(otherEffectRows),
];
