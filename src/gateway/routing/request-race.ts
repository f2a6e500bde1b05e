import { AppError } from '../../common/errors/app-error.js';
import type { Entry } from '../recording/entry.js';
import type { Answer } from '../delivery/answer.js';
import type { HedgePlan, PlannedTarget } from '../types/plan.js';
import type { Attempt } from '../upstream/attempt.js';
import { FailedAttempt } from '../upstream/retry.js';
import type { Hedges } from './hedges.js';
import type { Outcome } from './outcome.js';
import type { Racing, Rival, Walk } from './walk.js';

/** What the log says of a try that was ended because another target was faster. */
const LOST = 'hedge_lost';

/** One of two questions of a request. */
export class Leg {
  /** The try that is under way, or has answered. */
  running: Attempt | null = null;
  isOver = false;
  readonly sent: Promise<void>;
  private tellSent!: () => void;

  constructor() {
    this.sent = new Promise((resolve) => (this.tellSent = resolve));
  }

  began(attempt: Attempt): void {
    this.running = attempt;
    this.tellSent();
  }

  /** Throws once the other one has won: nothing more may be sent. */
  checkWanted(): void {
    if (this.isOver) throw lost();
  }

  /** Ends it, and writes down the try that was under way. Its provider has begun to work and is paid for that. */
  abandon(entry: Entry): void {
    this.isOver = true;
    const { running } = this;
    this.running = null;
    if (!running?.target) return;
    const { target } = running;
    const isCutOff = running.endedAt === null;
    running.recording?.drop();
    running.cancel(lost());
    entry.addDiscarded(running, target, LOST, isCutOff);
  }
}

const lost = (): AppError => new AppError('upstream_error', { detail: 'another target was faster' });

/** What a race needs of its request. */
interface Request {
  /** Of the first question. */
  readonly leg: Leg;
  readonly entry: Entry;
  /** What the request may cost at a target, nano-dollars; null when nobody knows. */
  readonly estimate: (planned: PlannedTarget) => Promise<number | null>;
  readonly walkOf: (entry: Entry, leg: Leg) => Walk<Answer>;
}

/** One request that is asked twice when its first target takes long. */
export class RequestRace implements Racing<Answer> {
  private readonly startedAt = performance.now();

  constructor(
    private readonly hedges: Hedges,
    private readonly request: Request,
  ) {}

  get sent(): Promise<void> {
    return this.request.leg.sent;
  }

  async patience(plan: HedgePlan, first: PlannedTarget): Promise<number | null> {
    return this.hedges.began(plan, await this.request.estimate(first));
  }

  async rival(plan: HedgePlan, second: PlannedTarget): Promise<Rival<Answer> | null> {
    const { entry, estimate, walkOf } = this.request;
    if (!this.hedges.take(plan, await estimate(second))) return null;
    const twin = entry.fork();
    const ownLeg = new Leg();
    return {
      walk: walkOf(twin, ownLeg),
      win: () => entry.adopt(twin),
      abandon: () => {
        ownLeg.abandon(twin);
        twin.drop();
      },
    };
  }

  measured(plan: HedgePlan, outcome: Outcome<Answer> | null): void {
    const attempt = outcome && attemptOf(outcome);
    // What the cache answered says nothing of the target.
    if (attempt?.isReplayed) return;
    if (attempt?.firstByteAt) this.hedges.measured(plan, attempt.firstByteAt - attempt.startedAt);
    else if (!outcome) this.hedges.measured(plan, performance.now() - this.startedAt);
  }

  abandon(): void {
    this.request.leg.abandon(this.request.entry);
  }
}

function attemptOf({ answer, thrown }: Outcome<Answer>): Attempt | null {
  if (answer) return answer.attempt;
  return thrown instanceof FailedAttempt ? thrown.attempt : null;
}
