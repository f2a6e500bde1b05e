import { Injectable } from '@nestjs/common';
import type { AttemptOutcome, TargetAnswer } from '../types/attempt-outcome.js';
import type { Plan, PlannedTarget } from '../types/plan.js';
import { Breakers } from './breakers.js';
import { Hedges } from './hedges.js';
import { Loads } from './loads.js';
import { route } from './route.js';
import type { Attempts, RoutingKnowledge } from './routing.js';

/** The outcome of a plan, and the choices that led to it. */
export interface RouteResult<Answer> {
  readonly outcome: AttemptOutcome<Answer>;
  readonly decisions: readonly string[];
}

/** Sends a request along a plan until a response is accepted, using this process's knowledge of the targets. */
@Injectable()
export class Router {
  private readonly loads = new Loads();
  private readonly hedges = new Hedges();

  constructor(private readonly breakers: Breakers) {}

  /** The outcome of the last target, whatever it is, or the error that no target can be chosen. Never rejects. */
  async route<Answer extends TargetAnswer>(
    plan: Exclude<Plan, PlannedTarget>,
    attempts: Attempts<Answer>,
    request: RoutingKnowledge,
  ): Promise<RouteResult<Answer>> {
    const first = { previous: request.trail, hold: null };
    const { breakers, loads, hedges } = this;
    const decisions: string[] = [];
    const outcome = await route(plan, { attempts, request, breakers, loads, hedges, decisions }, first);
    return { outcome, decisions };
  }
}
