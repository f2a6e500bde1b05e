import { Inject, Injectable } from '@nestjs/common';
import type { Price } from '../../common/contracts/price.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { estimateAt } from '../upstream/admission.js';
import { isInestimable } from '../limits/estimate.js';
import { changedContent } from '../planning/changed-content.js';
import { Planner } from '../planning/planner.js';
import type { PlannedTarget } from '../types/plan.js';
import type { IncomingRequest } from './incoming-request.js';

/** Estimates the cost of a request at a target before it is sent there. */
@Injectable()
export class TargetEstimates {
  constructor(
    private readonly planner: Planner,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** The price of the target's model. Null when it is unknown or the target cannot be resolved: an attempt at the target reports why. */
  async priceOf(incoming: IncomingRequest, planned: PlannedTarget): Promise<Price | null> {
    const placed = await this.placed(incoming, planned);
    return placed && placed.entry.priceAt(placed.target, placed.content.model);
  }

  /** The maximum cost of the request, in nano-dollars; null when it cannot be estimated. */
  async costOf(incoming: IncomingRequest, planned: PlannedTarget): Promise<number | null> {
    const placed = await this.placed(incoming, planned);
    const estimate = placed && estimateAt(placed, this.settings.outputTokensCeiling);
    return estimate && !isInestimable(estimate) ? estimate.costNanoUsd : null;
  }

  /** The resolved target with the content it would receive; null when the target cannot be resolved. */
  private async placed({ exchange, caller, read }: IncomingRequest, planned: PlannedTarget) {
    const { request, entry } = exchange;
    const { modelSlug, path } = read;
    const asking = { caller, headers: request.headers, options: entry.asked, modelSlug, planned, path };
    try {
      const target = await this.planner.plan(asking);
      return { entry, target, content: planned.params ? changedContent(read, planned.params) : read };
    } catch {
      return null;
    }
  }
}
