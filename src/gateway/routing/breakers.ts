import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { OutageNews } from '../ports.js';
import type { BreakerPlan, PlannedTarget } from '../types/plan.js';
import { AppError } from '../../common/errors/app-error.js';
import type { AttemptOutcome, TargetAnswer } from '../types/attempt-outcome.js';

/** Failures are counted over the last one to two of these. */
const SPAN_MS = 30_000;

/** Maximum targets out of service in other processes that this one has not used yet. */
const REPORTED_MAX = 10_000;

/** Monotonic milliseconds, so that a change of the wall clock opens and closes nothing. */
export type Clock = () => number;

/**
 * A circuit breaker per target (https://learn.microsoft.com/azure/architecture/patterns/circuit-breaker). Each process counts its own
 * requests. A breaker that opens notifies the other processes, which take the target out for the same time. After that, one request probes
 * it: the target returns if it succeeds, or stays out for another period.
 */
@Injectable()
export class Breakers {
  private readonly circuits = new WeakMap<BreakerPlan, Circuit>();
  /** When a target returns, as reported by another process. */
  private readonly reported = new LRUCache<string, number>({ max: REPORTED_MAX });
  private readonly now: Clock = () => performance.now();

  constructor(private readonly news: OutageNews) {
    news.subscribe((target, cooldownMs) => this.receive(target, cooldownMs));
  }

  /** The target is out of service, so other targets should be tried. */
  isOpen({ breaker }: PlannedTarget): boolean {
    if (!breaker) return false;
    const now = this.now();
    return this.isReported(breaker, now) || this.circuitOf(breaker).isOpen(now);
  }

  /** A request is sent to the target. */
  began({ breaker }: PlannedTarget): void {
    if (breaker) this.circuitOf(breaker).began(this.now());
  }

  /** The outcome of the request; null if the client disconnected. That, and an error of our own, do not count for or against the target. */
  ended({ breaker }: PlannedTarget, outcome: AttemptOutcome<TargetAnswer> | null): void {
    if (!breaker) return;
    const hasFailed = failureIn(outcome, breaker);
    const isNew = this.circuitOf(breaker).ended(hasFailed, this.now());
    if (isNew && breaker.sharedAs !== null) this.news.tell(breaker.sharedAs, breaker.cooldownMs);
  }

  private circuitOf(plan: BreakerPlan): Circuit {
    let circuit = this.circuits.get(plan);
    if (!circuit) this.circuits.set(plan, (circuit = new Circuit(plan)));
    return circuit;
  }

  private isReported({ sharedAs }: BreakerPlan, now: number): boolean {
    if (sharedAs === null || this.reported.size === 0) return false;
    const until = this.reported.get(sharedAs);
    if (until === undefined) return false;
    if (now < until) return true;
    this.reported.delete(sharedAs);
    return false;
  }

  private receive(target: string, cooldownMs: number): void {
    this.reported.set(target, this.now() + cooldownMs);
  }
}

/** Whether an outcome counts against the target; null if it does not count. */
function failureIn(outcome: AttemptOutcome<TargetAnswer> | null, { statuses }: BreakerPlan): boolean | null {
  if (!outcome) return null;
  if (outcome.kind === 'answered') {
    const { status } = outcome.answer;
    return statuses ? statuses.has(status) : status >= 500;
  }
  const { failed, error } = outcome;
  return failed !== null && error instanceof AppError && error.spec.elsewhere === true ? true : null;
}

interface Span {
  readonly startedAt: number;
  requests: number;
  failures: number;
}

/** The counts and the state of one target. */
class Circuit {
  private current: Span = { startedAt: 0, requests: 0, failures: 0 };
  private before: Span = this.current;
  private openUntil: number | null = null;
  private isProbing = false;

  constructor(private readonly plan: BreakerPlan) {}

  isOpen(now: number): boolean {
    return this.openUntil !== null && (now < this.openUntil || this.isProbing);
  }

  began(now: number): void {
    if (this.openUntil !== null && now >= this.openUntil) this.isProbing = true;
  }

  /** Returns whether the target has just gone out of service. */
  ended(hasFailed: boolean | null, now: number): boolean {
    const wasProbe = this.isProbing;
    this.isProbing = false;
    if (hasFailed === null) return false;
    if (this.openUntil !== null) return wasProbe && this.judgeProbe(hasFailed, now);
    this.count(hasFailed, now);
    return hasFailed && this.isTooMuch() && this.open(now);
  }

  private judgeProbe(hasFailed: boolean, now: number): boolean {
    if (hasFailed) return this.open(now);
    this.openUntil = null;
    return false;
  }

  private open(now: number): true {
    this.openUntil = now + this.plan.cooldownMs;
    this.current = this.before = { startedAt: now, requests: 0, failures: 0 };
    return true;
  }

  private count(hasFailed: boolean, now: number): void {
    const age = now - this.current.startedAt;
    if (age >= SPAN_MS) {
      const fresh = { startedAt: now, requests: 0, failures: 0 };
      this.before = age < 2 * SPAN_MS ? this.current : fresh;
      this.current = fresh;
    }
    this.current.requests += 1;
    if (hasFailed) this.current.failures += 1;
  }

  private isTooMuch(): boolean {
    const { before, current, plan } = this;
    const isOneSpan = before === current;
    const requests = current.requests + (isOneSpan ? 0 : before.requests);
    const failures = current.failures + (isOneSpan ? 0 : before.failures);
    if (plan.failures !== null && failures >= plan.failures) return true;
    return plan.share !== null && requests >= plan.minimumRequests && failures / requests >= plan.share;
  }
}
