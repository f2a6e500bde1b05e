import { heardTokens, responseUsages } from '../../providers/charging/sessions.js';
import type { Charge } from '../../request-log/record.js';
import { type Estimate, highestOf } from '../types/estimate.js';
import type { Actual, LimitHold } from '../types/limit-reservation.js';
import type { Admission } from '../upstream/admission.js';
import type { ReportedUse } from './session-meter.js';
import type { SessionUse } from './session-parts.js';

/** A response that runs, was requested, or may follow from what the client sent. */
export interface SessionStep {
  /** One for each slice of its input; none where no limit applies. */
  readonly holds: LimitHold[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The session's own request covers it, so it does not count as another. */
  readonly isFirst: boolean;
}

/** What the responses of a session cost, or may cost at most. `priceNow`: the price of the session's target, which may change. */
export class SessionPrices {
  constructor(private readonly priceNow: () => ReturnType<Admission['priceAt']>) {}

  /** At an unknown price, use costs what it would as use of the session's own model. */
  reported({ usage, cost }: ReportedUse): SessionUse | null {
    if (!usage) return null;
    if (cost !== null) return { usage, cost, isEstimated: false };
    const assumed = this.useOf(usage);
    return { ...assumed, isEstimated: assumed.cost !== null };
  }

  estimated({ inputTokens, outputTokens }: SessionStep): SessionUse {
    const { usage, costNanoUsd } = this.estimate(inputTokens, outputTokens);
    const tokens = { input_tokens: inputTokens, output_tokens: outputTokens };
    return { usage: usage ?? tokens, cost: costNanoUsd, isEstimated: true };
  }

  useOf(usage: SessionUse['usage']): SessionUse {
    const price = this.priceNow();
    const { costNanoUsd } = highestOf([usage], price);
    return {
      usage,
      cost: costNanoUsd ?? highestOf([heardTokens(usage)], price).costNanoUsd,
      isEstimated: true,
    };
  }

  estimate(inputTokens: number, outputTokens: number): Estimate {
    return highestOf(responseUsages(inputTokens, outputTokens), this.priceNow());
  }
}

export const reservedBy = ({ holds }: SessionStep): readonly Charge[] =>
  holds.flatMap((hold) => hold.reservation);

export function release({ holds }: SessionStep): void {
  for (const hold of holds) hold.release();
}

export function actualOfSession({ usage, cost }: SessionUse): Actual {
  const tokens = usage.input_tokens + usage.output_tokens;
  return { costNanoUsd: cost, tokens, isCountedLater: false };
}
