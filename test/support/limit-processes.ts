import type { Limit } from '../../src/common/limits/limit.js';
import type { LimitAsk, LimitGrant, LimitReturn } from '../../src/gateway/ports.js';
import type { SeededRandom } from './random.js';

/** What one process knows about one counter. */
interface Knowledge {
  held: number;
  /** To be given back, because the answer to the last return got lost. */
  due: number;
  /** Used beyond what was held, and not asked for yet. */
  debt: number;
  /** Spent, and no record of it is stored yet. */
  unstored: number;
  answeredCall: number;
  unsureSince: number | null;
  readonly steps: Map<number, number>;
  /** A call that is still on its way, though the process has given it up. */
  late: LimitAsk | null;
  isBudget: boolean;
}

/** A process that leases as a gateway process does, without its clock and its event loop. */
export class ModelProcess {
  private calls = 0;
  private readonly known = new Map<string, Knowledge>();

  constructor(readonly holder: string) {}

  /** What its requests use, or may use at any moment, of a budget or of slots. */
  holds({ id }: Pick<Limit, 'id'>): number {
    return this.of(id).held;
  }

  unstoredOf({ key }: { readonly key: string }): number {
    return this.of(key).unstored;
  }

  ask(limit: Limit, random: SeededRandom): LimitAsk {
    const known = this.of(limit.id);
    if (limit.kind !== 'slots' && random.is(0.02)) known.debt += random.whole(1, 5);
    const most = Math.max(1, Math.floor(limit.amount / random.whole(1, 40)));
    const first = random.whole(1, most);
    const need = first + (random.is(0.5) ? random.whole(0, most) : 0);
    const spare = limit.kind !== 'slots' && random.is(0.5) ? random.whole(0, 4 * most) : 0;
    return { ...this.call(limit, known.held + known.due), debt: known.debt, first, need, spare };
  }

  granted({ key, limit, debt, call }: LimitAsk, { granted, step }: LimitGrant): void {
    const known = this.of(key);
    this.answered(known, call);
    known.debt = 0;
    if (limit.kind === 'window') {
      if (granted > 0) known.steps.set(step, (known.steps.get(step) ?? 0) + granted);
      return;
    }
    known.held += granted;
    known.unstored += debt;
  }

  /** No answer came, and of a window nothing is undone. */
  unanswered({ key, limit }: { readonly key: string; readonly limit: Limit }): void {
    const known = this.of(key);
    if (limit.kind !== 'window') known.unsureSince ??= known.answeredCall;
  }

  isLate(ask: LimitAsk): void {
    this.of(ask.key).late = ask;
  }

  /** The call that is still on its way, now that a later one was done. */
  takeLate(key: string): LimitAsk | null {
    const known = this.of(key);
    const { late } = known;
    known.late = null;
    return late;
  }

  giveBack(limit: Limit, random: SeededRandom): LimitReturn {
    const known = this.of(limit.id);
    if (limit.kind === 'window') return this.giveBackSteps(limit, random);
    const part = random.whole(0, known.held);
    const amount = known.due + part;
    known.held -= part;
    known.due = 0;
    return { ...this.call(limit, known.held), amount, steps: [] };
  }

  returned({ key, call }: LimitReturn): void {
    this.answered(this.of(key), call);
  }

  keptBack(back: LimitReturn): void {
    if (back.limit.kind !== 'window') this.of(back.key).due += back.amount;
    this.unanswered(back);
  }

  /** Requests end, and what they cost is to be stored. */
  spend(random: SeededRandom): void {
    for (const known of this.known.values()) {
      const spent = random.whole(0, known.held);
      if (!known.isBudget) continue;
      known.held -= spent;
      known.unstored += spent;
    }
  }

  /** The records of what was spent, as they are stored. */
  takeRecords(): { counter: string; holder: string; leased: number; amount: number }[] {
    const records = [...this.known].flatMap(([counter, { unstored }]) =>
      unstored > 0 ? [{ counter, holder: this.holder, leased: unstored, amount: unstored }] : [],
    );
    for (const known of this.known.values()) known.unstored = 0;
    return records;
  }

  /** All requests end, and cost nothing. */
  releaseAll(): void {
    for (const known of this.known.values()) {
      known.due += known.held;
      known.held = 0;
    }
  }

  private giveBackSteps(limit: Limit, random: SeededRandom): LimitReturn {
    const { steps } = this.of(limit.id);
    const parts: { step: number; amount: number }[] = [];
    for (const [step, held] of steps) {
      const amount = random.whole(0, held);
      // The rest is used, or forgotten.
      if (random.is(0.5)) steps.delete(step);
      else steps.set(step, held - amount);
      if (amount > 0) parts.push({ step, amount });
    }
    const amount = parts.reduce((sum, part) => sum + part.amount, 0);
    return { ...this.call(limit, 0), amount, steps: parts };
  }

  private call(limit: Limit, holds: number) {
    const { unsureSince } = this.of(limit.id);
    this.of(limit.id).isBudget = limit.kind === 'budget';
    return { key: limit.id, limit, group: null, call: ++this.calls, unsureSince, holds };
  }

  private answered(known: Knowledge, call: number): void {
    known.answeredCall = call;
    known.unsureSince = null;
  }

  private of(key: string): Knowledge {
    let known = this.known.get(key);
    if (!known) {
      known = {
        held: 0,
        due: 0,
        debt: 0,
        unstored: 0,
        answeredCall: 0,
        unsureSince: null,
        steps: new Map(),
        late: null,
        isBudget: false,
      };
      this.known.set(key, known);
    }
    return known;
  }
}
