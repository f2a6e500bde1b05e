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

/** One way of spending, and what each kind of limit does to it. The same for every place of the limit. */
export interface LimitEffectRow {
  readonly path: string;
  readonly effects: Readonly<Record<LimitKind, LimitEffect>>;
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

/** Ways of spending that are no path of their own. */
const WITHIN_REQUESTS: readonly LimitEffectRow[] = [
  { path: 'any other path, and `PUT` and `PATCH`', effects: effectsOf('unmeasured') },
  { path: '`GET`, `HEAD` and `DELETE`, such as stored responses', effects: effectsOf('nothing') },
  { path: 'a response from the cache', effects: effectsOf('nothing') },
  {
    path: 'a retry, a fallback, or the second attempt of a hedge, under a virtual key',
    effects: byUse('refused'),
  },
  {
    path: 'a retry, a fallback, or the second attempt of a hedge, under other places',
    effects: byUse('refused', 'unaffected'),
  },
  { path: 'a side call for semantic caching', effects: byUse('refused', 'unaffected') },
  { path: 'a call of a guardrail to a provider', effects: byUse('unaffected', 'unaffected') },
  ...sessionRows.flatMap(({ path }) => [
    { path: `WebSocket \`${path}\`, when it opens`, effects: byUse('refused') },
    {
      path: `WebSocket \`${path}\`, each further response`,
      effects: byUse('refused', 'refused', 'unaffected'),
    },
  ]),
  { path: 'any other WebSocket', effects: effectsOf('unmeasured') },
];

/** Every way of spending, with the effect of each kind of limit. */
export const limitEffectRows: readonly LimitEffectRow[] = [...chargeRows.map(rowOf), ...WITHIN_REQUESTS];
