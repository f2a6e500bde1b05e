import type { FoundAnswer } from './found.js';

/** Requests that wait for the same answer at most; more go on by themselves. */
const WAITERS_MAX = 1_000;

/** A request that is being answered, and those that wait for what it gets. */
class Flight {
  readonly landed: Promise<FoundAnswer | null>;
  land!: (found: FoundAnswer | null) => void;
  waiters = 0;

  constructor() {
    this.landed = new Promise((resolve) => {
      this.land = resolve;
    });
  }
}

/** Equal requests of one process: the first asks, the others wait for its answer. */
export class Flights {
  private readonly flights = new Map<string, Flight>();

  /**
   * Makes a request the one that asks. False where another asks already: then its answer is not shared. Who gets true must
   * call `land`, whatever happens.
   */
  begin(key: string): boolean {
    if (this.flights.has(key)) return false;
    this.flights.set(key, new Flight());
    return true;
  }

  /** What the one that asks gets, or null when it got nothing to keep or took longer than `waitMs`. Undefined: no request is under way. */
  join(key: string, waitMs: number): Promise<FoundAnswer | null> | undefined {
    const flight = this.flights.get(key);
    if (!flight) return undefined;
    if (flight.waiters >= WAITERS_MAX) return Promise.resolve(null);
    flight.waiters++;
    return within(flight.landed, waitMs);
  }

  land(key: string, found: FoundAnswer | null): void {
    const flight = this.flights.get(key);
    this.flights.delete(key);
    flight?.land(found);
  }
}

/** Null when it takes longer. */
export async function within<T>(pending: Promise<T>, waitMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), waitMs);
  });
  try {
    return await Promise.race([pending, late]);
  } finally {
    clearTimeout(timer);
  }
}
