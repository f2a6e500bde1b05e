import { AppError } from '../../common/errors/app-error.js';
import { type CallerLimits, type Limit, limitAt, type Policy } from '../../common/limits/limit.js';
import { counterKey, periodAt } from '../../common/limits/period.js';
import {
  concerns,
  countsByBody,
  type LimitGroup,
  groupOf,
  type LimitedRequest,
  readsBody,
} from './applying.js';
import { type Estimate, FREE, type Inestimable, isInestimable } from '../types/estimate.js';
import type { ReservedAmount } from './hold.js';
import type { Leases } from './leases.js';
import type { Pool } from './pool.js';

/** The limits that an attempt needs. */
export interface LimitDemand extends LimitedRequest {
  /** It is a request's first attempt, so limits that count once per request apply too. */
  readonly isFirst: boolean;
  /**
   * A step of a running session: a further response, which counts as a request, or a longer input of a response. Its session counts
   * against concurrency. Absent for requests.
   */
  readonly step?: 'response' | 'input';
  /** Read only if a limit counts tokens or money. */
  readonly estimate: Estimate | Inestimable;
  /** Why the gateway could not read the body, which hides the model; null if it could, or does not read such bodies. */
  readonly unreadable: string | null;
  /** Throws if the body has a member twice, so that `reader` cannot tell which one counts. Absent where no body is sent. */
  checkRepeated?(reader: string): void;
}

/** Budgets may be counted in another store than the rest. */
export interface LeasesByKind {
  readonly budgets: Leases;
  readonly rates: Leases;
}

/** The amounts that an attempt needs of every limit that applies: of the key, the workspace, its policies and the virtual key. */
export class Demands {
  readonly parts: ReservedAmount[] = [];
  private readonly moment = Date.now();

  constructor(
    private readonly demand: LimitDemand,
    private readonly leases: LeasesByKind,
  ) {
    const { caller, target } = demand;
    if (caller.limits) this.addCallers(caller.limits);
    const ofKey = target.virtualKey?.limits;
    if (ofKey) for (const limit of ofKey) this.add(limit, null, false);
  }

  /** If they count requests, they limit the request as a whole and not each of its attempts. */
  private addCallers({ limits, policies }: CallerLimits): void {
    for (const limit of limits) this.addCallersOwn(limit, null);
    for (const policy of policies) {
      this.checkReadable(policy);
      if (concerns(policy, this.demand)) this.addCallersOwn(policy.limit, groupOf(policy, this.demand));
    }
  }

  /** A policy cannot be evaluated if the request hides the values it depends on. */
  private checkReadable(policy: Policy): void {
    const { unreadable: detail } = this.demand;
    const { subject: reader } = policy.limit;
    if (detail !== null && readsBody(policy)) throw new AppError('body_unreadable', { reader, detail });
    if (countsByBody(policy)) this.demand.checkRepeated?.(reader);
  }

  private addCallersOwn(limit: Limit, group: LimitGroup | null): void {
    const isForRequest = limit.measure === 'requests' || limit.measure === 'concurrency';
    if (this.demand.step) this.add(limit, group, false);
    else if (!isForRequest || this.demand.isFirst) this.add(limit, group, isForRequest);
  }

  private add(limit: Limit, group: LimitGroup | null, isForRequest: boolean): void {
    if (!countsIn(limit, this.demand.step)) return;
    const amount = amountOf(limit, this.demand);
    this.parts.push({ pool: this.poolOf(limit, group), amount, slice: null, isForRequest });
  }

  private poolOf(stored: Limit, group: LimitGroup | null): Pool {
    const limit = limitAt(stored, this.moment);
    const name = group ? `${limit.id}/${group.id}` : limit.id;
    const leases = limit.kind === 'budget' ? this.leases.budgets : this.leases.rates;
    const known = leases.find(name, this.moment);
    // The limit may have changed since the pool was opened. If it counts the same, its counter stays.
    if (known && (known.counter.limit === limit || known.adopt(limit))) return known;
    return this.opened(leases, name, limit, group);
  }

  private opened(leases: Leases, name: string, limit: Limit, group: LimitGroup | null): Pool {
    const period = limit.budget ? periodAt(limit.budget, this.moment) : ENDLESS;
    const key = counterKey(limit.id, period, group ? group.id : '');
    return leases.open(name, { key, limit, group: group && group.text }, period.endsAt);
  }
}

function countsIn({ measure }: Limit, step: LimitDemand['step']): boolean {
  if (step === undefined) return true;
  return measure !== 'concurrency' && (measure !== 'requests' || step === 'response');
}

const ENDLESS = { startsAt: 0, endsAt: Number.POSITIVE_INFINITY } as const;

/** Whether all of it can be taken now. Throws the error of the first limit that has just refused. */
export function areThere(parts: readonly ReservedAmount[], now: number): boolean {
  for (const { pool, amount } of parts) if (!pool.has(amount, now)) return false;
  return true;
}

function amountOf(limit: Limit, demand: LimitDemand): number {
  switch (limit.measure) {
    case 'tokens':
    case 'cost':
      return useOf(limit, demand);
    default:
      return 1;
  }
}

/** An estimate above a whole rate limit takes all of it: the real amount is charged at the end. */
function useOf(limit: Limit, demand: LimitDemand): number {
  const { estimate, model } = demand;
  const { subject, measure } = limit;
  if (isInestimable(estimate)) throw inestimable(limit, estimate);
  if (estimate !== FREE) demand.checkRepeated?.(readerOf(limit));
  const { tokens, costNanoUsd } = estimate;
  if (measure === 'tokens') return limit.kind === 'window' ? Math.min(tokens, limit.amount) : tokens;
  if (costNanoUsd === null) throw new AppError('price_unknown', { subject, model: model ?? '' });
  return costNanoUsd;
}

const inestimable = (limit: Limit, { problem, detail }: Inestimable): AppError =>
  new AppError(problem, { reader: readerOf(limit), detail });

const readerOf = ({ kind, subject }: Limit): string =>
  `the ${kind === 'budget' ? 'budget' : 'token limit'} of ${subject}`;
