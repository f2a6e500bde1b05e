import { Injectable } from '@nestjs/common';
import type { Plan } from '../types/plan.js';
import { Breakers } from './breakers.js';
import { Hedges } from './hedges.js';
import { Loads } from './loads.js';
import type { TargetAnswer } from './outcome.js';
import type { RoutableRequest } from './routable-request.js';
import { route } from './route.js';

/** Sends a request along a plan until a response is accepted, using this process's knowledge of the targets. */
@Injectable()
export class Router {
  private readonly loads = new Loads();
  private readonly hedges = new Hedges();

  constructor(private readonly breakers: Breakers) {}

  /** Rejects with the FailedAttempt of the last target, or with the AppError that refused it. */
  route<Answer extends TargetAnswer>(plan: Plan, request: RoutableRequest<Answer>): Promise<Answer> {
    if (plan.kind === 'target') return request.attempt(plan, null);
    const { breakers, loads, hedges } = this;
    return route(plan, { request, breakers, loads, hedges });
  }
}
