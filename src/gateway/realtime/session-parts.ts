import type { Usage, UsageCount } from '../../common/contracts/usage.js';
import type { Charge } from '../../request-log/record.js';

/** The use of a session that was charged to the same counters: a session that outlasts the period of a budget has several. */
export interface SessionPart {
  /** Null before anything was used. */
  readonly usage: Usage | null;
  /** Nano-dollars; null if a piece has no known price. */
  readonly cost: number | null;
  readonly charges: readonly Charge[];
  /** It includes responses without reported usage. */
  readonly isEstimated: boolean;
}

/** A piece of use. */
export interface SessionUse {
  readonly usage: Usage;
  readonly cost: number | null;
  readonly isEstimated: boolean;
}

/** Sums up the use of a session for its record. */
export class SessionParts {
  private readonly parts: SessionPart[] = [UNUSED_PART];

  get all(): readonly SessionPart[] {
    return this.parts;
  }

  /** All of the session's usage; null for none. */
  get usage(): Usage | null {
    return this.parts.reduce<Usage | null>((sum, { usage }) => usage && added(sum, usage), null);
  }

  /** Adds a piece of use with its charges. */
  add(use: SessionUse, charges: readonly Charge[]): void {
    if (this.last.usage && namesOf(this.last.charges) !== namesOf(charges)) this.parts.push(UNUSED_PART);
    this.parts.push(plus(this.parts.pop() ?? UNUSED_PART, use, charges));
  }

  get last(): SessionPart {
    return this.parts.at(-1) ?? UNUSED_PART;
  }

  /** Something was used that nobody can know. */
  becameUnknown(): void {
    const last = this.parts.pop() ?? UNUSED_PART;
    this.parts.push({ ...last, usage: last.usage ?? NO_USAGE, cost: null, isEstimated: true });
  }
}

const UNUSED_PART: SessionPart = { usage: null, cost: 0, charges: [], isEstimated: false };
const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0 };

/** A part with a further piece of use. */
export function plus(part: SessionPart, use: SessionUse, charges: readonly Charge[]): SessionPart {
  return {
    usage: added(part.usage, use.usage),
    cost: part.cost === null || use.cost === null ? null : part.cost + use.cost,
    charges: merged(part.charges, charges),
    isEstimated: part.isEstimated || use.isEstimated,
  };
}

/** One charge for each counter: `leased` adds up. */
function merged(known: readonly Charge[], more: readonly Charge[]): readonly Charge[] {
  const byCounter = new Map(known.map((charge) => [charge.counter, charge]));
  for (const charge of more) {
    const leased = (byCounter.get(charge.counter)?.leased ?? 0) + charge.leased;
    byCounter.set(charge.counter, { ...charge, leased });
  }
  return [...byCounter.values()];
}

const namesOf = (charges: readonly Charge[]): string =>
  charges
    .map(({ counter }) => counter)
    .sort()
    .join(' ');

function added(sum: Usage | null, usage: Usage): Usage {
  if (!sum) return usage;
  // A session generates no images, so its usages contain only counts.
  const kinds = Object.keys({ ...sum, ...usage }) as UsageCount[];
  const counts = kinds.map((kind) => [kind, (sum[kind] ?? 0) + (usage[kind] ?? 0)]);
  const total: unknown = Object.fromEntries(counts);
  return total as Usage;
}
