import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import type { EndpointId } from '../../providers/endpoint.js';
import type { ReadRequest } from '../types/content.js';
import type { Exchange } from '../recording/exchange.js';
import type { Trail } from '../recording/trail.js';
import type { Attempt } from '../upstream/attempt.js';

/** The error code in the log for a try that ended because another target was faster. */
const LOST = 'hedge_lost';

/** Endpoints that store nothing at the provider, so that sending a request twice costs money and has no other effect. */
const TRACELESS: ReadonlySet<EndpointId> = new Set([
  'chat-completions',
  'completions',
  'fim-completions',
  'messages',
  'count-tokens',
  'generate-content',
  'embed-content',
  'chat-v2',
  'embed-v2',
  'rerank-v2',
  'embeddings',
  'rerank',
  'moderations',
  'ocr',
]);

/**
 * A request that is ready to be sent. Hedging sends it to two targets at once: the second time as a `fork` with a trail of its own. The
 * winner's trail is recorded.
 */
export class SendableRequest {
  /** The other target has won: nothing more is sent. */
  isOver = false;
  /** The current try, running or with a response. */
  private running: Attempt | null = null;
  private resolveSent: (() => void) | null = null;

  constructor(
    readonly exchange: Exchange,
    readonly caller: Principal,
    readonly read: ReadRequest,
    public trail: Trail = exchange.entry.trail,
  ) {}

  /** Stored responses are found by their id: of two, one would remain at the provider unnoticed. */
  get mayBeSentTwice(): boolean {
    const { endpoint } = this.exchange.entry;
    const { isRepeatable, json } = this.read;
    if (!endpoint || !isRepeatable || !json) return false;
    return TRACELESS.has(endpoint.id) || (endpoint.id === 'responses' && json.store === false);
  }

  /** Resolves when the next try has been sent. */
  whenSent(): Promise<void> {
    return new Promise((resolve) => (this.resolveSent = resolve));
  }

  /** Throws once the other target has won. */
  checkWanted(): void {
    if (this.isOver) throw lost();
  }

  began(attempt: Attempt): void {
    this.running = attempt;
    this.resolveSent?.();
  }

  /** The last try is recorded, so `abandon` has nothing to cancel. */
  gaveUp(): void {
    this.running = null;
  }

  fork(): SendableRequest {
    return new SendableRequest(this.exchange, this.caller, this.read, this.trail.fork());
  }

  /** Continues as the fork, which is not used afterwards. */
  adopt({ trail }: SendableRequest): void {
    this.exchange.entry.follows(trail);
    this.trail = trail;
  }

  /** Cancels the request and records the current try: its provider has started work, which is charged. */
  abandon(): void {
    const { entry } = this.exchange;
    const { running, trail } = this;
    this.isOver = true;
    this.running = null;
    if (running?.target) {
      const { target } = running;
      const isCutOff = running.endedAt === null;
      running.recording?.drop();
      running.cancel(lost());
      entry.addDiscarded(running, { target, trail }, { errorCode: LOST, isCutOff });
    }
    if (trail !== entry.trail) trail.release();
  }
}

const lost = (): AppError => new AppError('upstream_error', { detail: 'another target was faster' });
