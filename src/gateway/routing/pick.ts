import { hash } from 'node:crypto';
import type { LoadBalance, Plan, StickyField, Weighted } from '../types/plan.js';
import type { RoutedRequest } from './route.js';

/** The target of a load balance for one request. `random` is in [0, 1). */
export function pick(balance: LoadBalance, request: RoutedRequest, random: () => number = Math.random): Plan {
  const { targets, stickyBy } = balance;
  const session = stickyBy && sessionOf(stickyBy, request);
  return session === null ? pickByWeight(targets, random()) : pickBySession(targets, session);
}

function pickByWeight(targets: readonly Weighted[], random: number): Plan {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0);
  let left = random * total;
  for (const { plan, weight } of targets) {
    left -= weight;
    if (left < 0) return plan;
  }
  return (targets.at(-1) as Weighted).plan;
}

/** What the fields say together; null where the request has none of them, and so belongs to no other. */
function sessionOf(fields: readonly StickyField[], request: RoutedRequest): string | null {
  const values = fields.map((field) => valueOf(field, request));
  return values.every((value) => value === undefined) ? null : JSON.stringify(values);
}

function valueOf({ root, key }: StickyField, { metadata, params, headers }: RoutedRequest): unknown {
  const values: object | null = { metadata, params, headers }[root];
  return values && Object.hasOwn(values, key) ? (values as Record<string, unknown>)[key] : undefined;
}

/**
 * Weighted rendezvous hashing: every process of every instance finds the same target for a session without asking any
 * other, each target gets its share of the sessions, and when one is added or removed only its own share moves.
 * https://www.snia.org/sites/default/files/SDC15_presentations/dist_sys/Jason_Resch_New_Consistent_Hashings_Rev.pdf
 */
function pickBySession(targets: readonly Weighted[], session: string): Plan {
  let best = targets[0] as Weighted;
  let bestScore = -Infinity;
  for (const target of targets) {
    const score = -target.weight / Math.log(uniform(`${target.plan.path}\n${session}`));
    if (score <= bestScore) continue;
    best = target;
    bestScore = score;
  }
  return best.plan;
}

const BITS = 48;

/** A number in (0, 1) that only the text decides. */
function uniform(text: string): number {
  const bits = hash('sha1', text, 'buffer').readUIntBE(0, BITS / 8);
  return (bits + 0.5) / 2 ** BITS;
}
