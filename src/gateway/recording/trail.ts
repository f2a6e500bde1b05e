import type { CacheStatus } from '../../request-log/record.js';
import type { Json } from '../../providers/endpoint.js';
import type { Content } from '../types/content.js';
import type { HookResults } from '../types/hook-results.js';
import { ROOT_OPTION } from '../types/plan.js';
import type { Target } from '../types/target.js';
import type { BodyCapture } from './capture.js';

/**
 * What one request found on its way from target to target, for its record. A hedged request has two, one for each of its
 * attempts at the same time, and the record is made from the winner's. Only its methods change it: everyone else holds a `Trail`.
 */
export class RequestTrail {
  body: Json | null = null;
  model: string | null = null;
  isStreamed = false;
  /** Where the request went last; null before it went anywhere. */
  target: Target | null = null;
  /** Where that target stands in the config. */
  option = ROOT_OPTION;
  /** The target's retries were used up, and none helped. */
  isExhausted = false;
  /** Attempts at the target that failed and were followed by another one there. */
  retries = 0;
  /** Parameters that the target does not have and did not get; null for none. */
  dropped: readonly string[] | null = null;
  /** What the response cache did for the target; null where it was not asked. */
  cacheStatus: CacheStatus | null = null;
  /** Likeness, 0 to 1, of the nearest stored question; null where no meanings were compared. */
  cacheScore: number | null = null;
  /** What guardrails said; null where there are none. */
  hookResults: HookResults | null = null;

  constructor(readonly requestBody: BodyCapture) {}

  /** The client sent this body. */
  reads(body: Json): void {
    this.body = body;
  }

  /** The client asked for this model. */
  asksFor(model: string | null): void {
    this.model = model;
  }

  /** The client asked for its answer as a stream, or whole. */
  asksForStream(isStreamed: boolean): void {
    this.isStreamed = isStreamed;
  }

  /** The request goes to another target, and says this there. What was found at the one before is forgotten. */
  goesTo(target: Target, option: string, { json, model, isStreamed }: Content): void {
    this.target = target;
    this.option = option;
    this.body = json;
    this.model = model;
    this.isStreamed = isStreamed;
    this.isExhausted = false;
    this.retries = 0;
    this.dropped = null;
    this.cacheStatus = null;
    this.cacheScore = null;
  }

  /** Guardrails changed the request. The log keeps it as it went on: what was redacted is not kept. */
  rewritten(json: Json | null, body: Buffer): void {
    this.requestBody.replace(body);
    this.body = json;
  }

  /** The target does not have these parameters. */
  drops(parameters: readonly string[] | null): void {
    this.dropped = parameters;
  }

  cacheCompared(score: number | null): void {
    this.cacheScore = score;
  }

  cacheSaid(status: CacheStatus): void {
    this.cacheStatus = status;
  }

  /** An attempt at the target failed, and the next one follows. */
  retried(): void {
    this.retries += 1;
  }

  /** The target's retries are over. */
  retriesEnded(isExhausted: boolean): void {
    this.isExhausted = isExhausted;
  }

  /** Where guardrails add what they say. */
  verdicts(): HookResults {
    return (this.hookResults ??= { before_request_hooks: [], after_request_hooks: [] });
  }

  /** The trail of a second attempt at the same time. What guardrails say of that one is its own. */
  fork(): Trail {
    const fork = new RequestTrail(this.requestBody.copy());
    const { requestBody } = fork;
    return Object.assign(fork, this, { requestBody, hookResults: null });
  }

  /** It is not recorded, so its copy of the body is not needed any more. */
  release(): void {
    this.requestBody.release();
  }
}

/** A trail as its readers see it. */
export type Trail = Readonly<RequestTrail>;
