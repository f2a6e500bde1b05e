import type { Price } from './price.js';

/**
 * The prices of one model over time: some providers charge less at night, and a price list may announce a change before it takes effect.
 * The last entry in effect wins.
 */
export type PriceSchedule = readonly ScheduledPrice[];

export interface ScheduledPrice {
  readonly when: PriceWindow;
  readonly price: Price | null;
}

export type PriceWindow =
  | { readonly kind: 'always' }
  /** From a moment on, in milliseconds since the epoch. */
  | { readonly kind: 'from'; readonly startsAt: number }
  /** Daily, in milliseconds after midnight UTC; a window may span midnight. */
  | { readonly kind: 'daily'; readonly opensAt: number; readonly closesAt: number };

const DAY = 86_400_000;

/** The price at a moment, in milliseconds since the epoch; null when the schedule has none. */
export function scheduledPrice(schedule: PriceSchedule, moment: number): Price | null {
  for (let index = schedule.length - 1; index >= 0; index--) {
    const entry = schedule[index];
    if (entry && isInForce(entry.when, moment)) return entry.price;
  }
  return schedule[0]?.price ?? null;
}

function isInForce(when: PriceWindow, moment: number): boolean {
  switch (when.kind) {
    case 'always':
      return true;
    case 'from':
      return moment >= when.startsAt;
    case 'daily': {
      const time = moment % DAY;
      return when.closesAt < when.opensAt
        ? time >= when.opensAt || time < when.closesAt
        : time >= when.opensAt && time < when.closesAt;
    }
  }
}
