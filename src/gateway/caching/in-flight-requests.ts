import type { FoundAnswer } from '../types/stored-answer.js';

/** Maximum requests that wait for one response; further ones continue on their own. */
const WAITERS_MAX = 1_000;

/** A request in progress, and the requests that wait for its response. */
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

/** Equal requests of one process: the first is sent, the others wait for its response. */
export class InFlightRequests {
  private readonly flights = new Map<string, Flight>();

  /**
   * Makes a request the leader of its key. False if there is one already: then this request's response is not shared. After true, the
   * caller must call `land` in every case.
   */
  begin(key: string): boolean {
    if (this.flights.has(key)) return false;
    this.flights.set(key, new Flight());
    return true;
  }

  /** The leader's response, or null when it has none to share or takes longer than `waitMs`. Undefined: no request is in progress. */
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
