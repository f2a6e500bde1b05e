import { Injectable } from '@nestjs/common';
import type { Price } from '../../common/contracts/price.js';
import { Admission, type RequestAtTarget } from '../upstream/admission.js';
import { isInestimable } from '../types/estimate.js';
import { changedContent } from '../planning/changed-content.js';
import { Planner } from '../planning/planner.js';
import type { PlannedTarget } from '../types/plan.js';
import type { IncomingRequest } from './incoming-request.js';

/** Estimates the cost of a request at a target before it is sent there. */
@Injectable()
export class TargetEstimates {
  constructor(
    private readonly planner: Planner,
    private readonly admission: Admission,
  ) {}

  /** The price of the target's model. Null when it is unknown or the target cannot be resolved: an attempt at the target reports why. */
  async priceOf(incoming: IncomingRequest, planned: PlannedTarget): Promise<Price | null> {
    const estimated = await this.requestAt(incoming, planned);
    return estimated && this.admission.priceAt(estimated.target, estimated.content.model);
  }

  /** The maximum cost of the request, in nano-dollars; null when it cannot be estimated. */
  async costOf(incoming: IncomingRequest, planned: PlannedTarget): Promise<number | null> {
    const estimated = await this.requestAt(incoming, planned);
    const estimate = estimated && this.admission.estimate(estimated);
    return estimate && !isInestimable(estimate) ? estimate.costNanoUsd : null;
  }

  /** The resolved target with the content it would receive; null when the target cannot be resolved. */
  private async requestAt(
    { exchange, caller, read }: IncomingRequest,
    planned: PlannedTarget,
  ): Promise<RequestAtTarget | null> {
    const { request, facts } = exchange;
    const { modelSlug, path } = read;
    const asking = { caller, headers: request.headers, options: facts.options, modelSlug, planned, path };
    try {
      const target = await this.planner.plan(asking);
      return { exchange, target, content: planned.params ? changedContent(read, planned.params) : read };
    } catch {
      return null;
    }
  }
}
