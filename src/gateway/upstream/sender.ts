import { Inject, Injectable } from '@nestjs/common';
import { Egress } from '../../common/egress/egress.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import type { Target } from '../types/target.js';
import { Attempt, type AttemptLimits } from './attempt.js';
import { sandboxWire } from './sandbox-wire.js';
import { type Wire, type WireRequest, wireOf } from './wire.js';

/** Starts attempts. The only part of the gateway that hands bytes to a wire. */
@Injectable()
export class Sender {
  private readonly limits: AttemptLimits;

  constructor(
    private readonly egress: Egress,
    @Inject(SETTINGS) settings: Settings,
  ) {
    this.limits = { ...settings.timeouts, setByCaller: false };
  }

  /** Bounds of an attempt: the operator's, or the caller's own bound of the time to the first byte. */
  limitsFor(timeoutMs: number | null): AttemptLimits {
    return timeoutMs === null ? this.limits : { ...this.limits, firstByteMs: timeoutMs, setByCaller: true };
  }

  /** `tenant` keeps connections of different tenants apart, so that nothing left on one can reach another. */
  start(tenant: string, target: Target, request: WireRequest, limits: AttemptLimits): Attempt {
    return new Attempt(limits).send(this.wire(tenant, target), request);
  }

  private wire(tenant: string, { provider, origin }: Target): Wire {
    return provider.inProcess ? sandboxWire : wireOf(this.egress.pool(tenant, origin), origin);
  }
}
