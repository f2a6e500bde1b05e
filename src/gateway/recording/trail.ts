import type { CacheStatus } from '../../request-log/record.js';
import type { Json } from '../../providers/endpoint.js';
import type { Content } from '../types/content.js';
import type { HookResults } from '../types/hook-results.js';
import { ROOT_OPTION } from '../types/plan.js';
import type { Target } from '../types/target.js';
import type { BodyCapture } from './capture.js';

/**
 * The results of one request on its way from target to target, for its record. A hedged request has two trails, one for each of its
 * concurrent attempts, and the winner's is recorded. Only its methods change it: all other code holds a `Trail`.
 */
export class RequestTrail {
  body: Json | null = null;
  model: string | null = null;
  isStreamed = false;
  /** The last target; null before the first. */
  target: Target | null = null;
  /** The path of that target in the config. */
  option = ROOT_OPTION;
  /** All retries at the target were used and failed. */
  isExhausted = false;
  /** Failed attempts at the target that were retried there. */
  retries = 0;
  /** Parameters that the target does not support and that were dropped; null for none. */
  dropped: readonly string[] | null = null;
  /** The target's provider does not list the endpoint, and the request was forwarded all the same. */
  isUnlisted = false;
  /** The result of the response cache for the target; null if it was not used. */
  cacheStatus: CacheStatus | null = null;
  /** Similarity of the semantic cache match, 0 to 1; null if nothing was compared. */
  cacheScore: number | null = null;
  /** Results of guardrails; null if there are none. */
  hookResults: HookResults | null = null;

  constructor(readonly requestBody: BodyCapture) {}

  /** Sets the client's body. */
  reads(body: Json): void {
    this.body = body;
  }

  /** Sets the requested model. */
  asksFor(model: string | null): void {
    this.model = model;
  }

  /** Sets whether the client requested a stream. */
  asksForStream(isStreamed: boolean): void {
    this.isStreamed = isStreamed;
  }

  /** Moves to another target, with the content for it. Results of the previous target are discarded. */
  goesTo(target: Target, option: string, { json, model, isStreamed }: Content): void {
    this.target = target;
    this.option = option;
    this.body = json;
    this.model = model;
    this.isStreamed = isStreamed;
    this.isExhausted = false;
    this.retries = 0;
    this.dropped = null;
    this.isUnlisted = false;
    this.cacheStatus = null;
    this.cacheScore = null;
  }

  /** Guardrails changed the request. The log stores the changed request, without redacted values. */
  rewritten(json: Json | null, body: Buffer): void {
    this.requestBody.replace(body);
    this.body = json;
  }

  /** Sets the parameters that the target does not support, and whether its provider lists the endpoint. */
  translated({ dropped, isUnlisted }: Pick<RequestTrail, 'dropped' | 'isUnlisted'>): void {
    this.dropped = dropped;
    this.isUnlisted = isUnlisted;
  }

  cacheCompared(score: number | null): void {
    this.cacheScore = score;
  }

  cacheAnswered(status: CacheStatus): void {
    this.cacheStatus = status;
  }

  /** An attempt at the target failed and is retried. */
  retried(): void {
    this.retries += 1;
  }

  /** The retries at the target have ended. */
  retriesEnded(isExhausted: boolean): void {
    this.isExhausted = isExhausted;
  }

  /** The list to which guardrails add their results. */
  verdicts(): HookResults {
    return (this.hookResults ??= { before_request_hooks: [], after_request_hooks: [] });
  }

  /** The trail of a second, concurrent attempt. It has guardrail results of its own. */
  fork(): Trail {
    const fork = new RequestTrail(this.requestBody.copy());
    const { requestBody } = fork;
    return Object.assign(fork, this, { requestBody, hookResults: null });
  }

  /** It is not recorded, so its copy of the body is no longer needed. */
  release(): void {
    this.requestBody.release();
  }
}

/** A trail as its readers see it. */
export type Trail = Readonly<RequestTrail>;
