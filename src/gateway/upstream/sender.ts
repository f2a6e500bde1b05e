import { isPromise } from '../../common/maybe-promise.js';
import { Inject, Injectable } from '@nestjs/common';
import { Egress } from '../../egress/egress.js';
import { AppError } from '../../common/errors/app-error.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { TokenCounter } from '../ports.js';
import type { Target } from '../types/target.js';
import { Attempt, type AttemptLimits } from './attempt.js';
import { Signers } from './signing/signers.js';
import { sandboxWire } from './sandbox-wire.js';
import { followingWire } from './following-wire.js';
import { countingWire } from './counting-wire.js';
import { replayWire } from './replay-wire.js';
import { type Wire, type WireRequest, wireOf } from './wire.js';

/** Starts attempts. The only part of the gateway that sends bytes to a wire. */
@Injectable()
export class Sender {
  private readonly limits: AttemptLimits;

  constructor(
    private readonly egress: Egress,
    private readonly signers: Signers,
    private readonly counter: TokenCounter,
    @Inject(SETTINGS) settings: Settings,
  ) {
    this.limits = { ...settings.timeouts, setByCaller: false };
  }

  /** Timeouts of an attempt: the operator's, with the caller's own limit of the time to the first byte, if any. */
  limitsFor(timeoutMs: number | null): AttemptLimits {
    return timeoutMs === null ? this.limits : { ...this.limits, firstByteMs: timeoutMs, setByCaller: true };
  }

  /** `tenant` separates the connections of tenants, so that nothing left on one can reach another. */
  start(tenant: string, target: Target, request: WireRequest, limits: AttemptLimits): Attempt {
    const attempt = new Attempt(limits);
    const signed = this.signed(request, target);
    // The pool is looked up in the turn in which it is used: a newer one may replace it meanwhile.
    if (isPromise(signed))
      signed.then(
        (ready) => attempt.send(this.wire(tenant, target, ready), ready),
        (error: unknown) => attempt.onError(AppError.from(error)),
      );
    else attempt.send(this.wire(tenant, target, signed), signed);
    return attempt;
  }

  /** Signed again for each attempt, because a signature is valid for minutes only. Most providers need none. */
  private signed(request: WireRequest, target: Target): WireRequest | Promise<WireRequest> {
    const { signer } = target.provider.auth;
    const isAnsweredHere = request.counted !== undefined || request.stored !== undefined;
    if (!signer || !target.credentials.key || isAnsweredHere) return request;
    try {
      return this.signers.signerFor(signer).sign(request, target);
    } catch (error) {
      return Promise.reject(AppError.from(error));
    }
  }

  private wire(tenant: string, { provider, origin }: Target, request: WireRequest): Wire {
    const { counted, next, stored } = request;
    if (stored) return replayWire(stored);
    if (counted !== undefined) return countingWire(this.counter, counted);
    const wire = provider.inProcess ? sandboxWire : wireOf(this.egress.origin(tenant, origin), origin);
    return next ? followingWire(wire, next) : wire;
  }
}
