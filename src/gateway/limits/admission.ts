import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { ClientLeft } from '../door/request-body.js';
import type { Entry } from '../journal/entry.js';
import { metadataOf } from '../journal/records.js';
import { costOf } from '../../providers/prices/cost.js';
import type { Exchange } from '../types/exchange.js';
import type { Target } from '../types/target.js';
import type { Attempt } from '../upstream/attempt.js';
import type { WireRequest } from '../upstream/wire.js';
import { estimateOf, FREE } from './estimate.js';
import { type Hold, UNUSED } from './hold.js';
import { Limiter, type Reserved } from './limiter.js';

/** An attempt that is ready to be sent. */
interface Sending {
  readonly exchange: Exchange;
  readonly target: Target;
  readonly wire: WireRequest;
}

/** A question beside the request, of which no more tokens come back than a vector has. */
interface Aside {
  readonly entry: Entry;
  readonly target: Target;
  readonly model: string;
  /** No text has more tokens than bytes. */
  readonly body: Buffer;
}

/** Lets an attempt begin once the limits that apply to it have room for it. */
@Injectable()
export class Admission {
  constructor(
    private readonly limiter: Limiter,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Reserves what the attempt may use, then begins it. The attempt settles when it is written down, the request when it
   * ends. Where nothing limits, this costs two comparisons. Rejects as `Limiter.reserve` does, and when the client left.
   */
  begin(sending: Sending, start: () => Attempt): Attempt | Promise<Attempt> {
    const { exchange, target } = sending;
    const { caller } = exchange.entry;
    if (caller === null || !isLimited(caller, target)) return start();
    const reserved = this.reserve(sending, caller);
    return reserved instanceof Promise
      ? reserved.then((ready) => this.beginWith(ready, exchange, start))
      : this.beginWith(reserved, exchange, start);
  }

  /**
   * The same for a question that the gateway asks beside the request, which counts as no request of its own. Rejects as
   * `Limiter.reserve` does.
   */
  beginAside({ entry, target, model, body }: Aside, start: () => Attempt): Attempt | Promise<Attempt> {
    const { caller } = entry;
    if (caller === null || !isLimited(caller, target)) return start();
    const usage = { input_tokens: body.length, output_tokens: 0 };
    const price = entry.priceAt(target, model);
    const reserved = this.limiter.reserve({
      caller,
      target,
      model,
      metadata: metadataOf(entry),
      isFirst: false,
      estimate: { tokens: body.length, costNanoUsd: price && costOf(usage, price) },
    });
    return reserved instanceof Promise
      ? reserved.then(({ attempt }) => holding(attempt, start))
      : holding(reserved.attempt, start);
  }

  private reserve(
    { exchange: { entry }, target, wire }: Sending,
    caller: Principal,
  ): Reserved | Promise<Reserved> {
    const { endpoint, body, model } = entry;
    const metadata = metadataOf(entry);
    const isFirst = !entry.isAdmitted;
    // What the cache answers is a request like any other, and uses nothing.
    if (wire.stored)
      return this.limiter.reserve({ caller, target, model, metadata, isFirst, estimate: FREE });
    const estimate = estimateOf({
      endpoint,
      body,
      bodyBytes: Math.max(entry.requestBody.bytes, wire.body instanceof Buffer ? wire.body.length : 0),
      price: entry.priceAt(target, model),
      outputCeiling: this.settings.outputTokensCeiling,
    });
    return this.limiter.reserve({ caller, target, model, metadata, isFirst, estimate });
  }

  /** A client that left while the store was asked gets nothing sent for it. */
  private beginWith(
    { request, attempt: hold }: Reserved,
    { entry, response }: Exchange,
    start: () => Attempt,
  ): Attempt {
    entry.isAdmitted = true;
    if (request) entry.permit = request;
    if (response.destroyed) {
      hold.settle(UNUSED);
      throw new ClientLeft();
    }
    return holding(hold, start);
  }
}

function isLimited(caller: Principal, { virtualKey }: Target): boolean {
  return caller.limits !== undefined || (virtualKey !== null && virtualKey.limits !== undefined);
}

function holding(hold: Hold, start: () => Attempt): Attempt {
  try {
    const attempt = start();
    attempt.hold = hold;
    return attempt;
  } catch (error) {
    hold.settle(UNUSED);
    throw error;
  }
}
