import type { Charge } from '../../request-log/record.js';

/** The real usage of an attempt. Null when it is unknown. */
export interface Actual {
  readonly costNanoUsd: number | null;
  readonly tokens: number | null;
  /** Text without reported usage is counted when the record is stored; until then the reservation stays. */
  readonly isCountedLater: boolean;
}

/** The attempt produced nothing, or nothing that is billed. */
export const UNUSED: Actual = { costNanoUsd: null, tokens: null, isCountedLater: false };

/**
 * The reservations of all limits that apply: those that end with the request, or those that end with the attempt. Settled exactly once:
 * later calls do nothing.
 */
export interface LimitHold {
  /** The budget charges if the attempt's result never becomes known: the whole reservation. */
  readonly reservation: readonly Charge[];
  /** Replaces the reservation with the real usage. Returns the budget charges for the record. */
  settle(actual: Actual): readonly Charge[];
  /** Returns all of the reservation: what it was for never began. */
  release(): void;
  /** Charges usage beside the reservation, which stays. Returns the budget charges for the record. */
  chargeBeside(actual: Actual): readonly Charge[];
}

/** `request` ends with the request, `attempt` with the attempt. */
export interface LimitReservation {
  /** Null if nothing is counted per request. */
  readonly request: LimitHold | null;
  readonly attempt: LimitHold;
}
