import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import type { EndpointId } from '../../providers/endpoint.js';
import type { ReadRequest } from '../types/content.js';
import type { Exchange } from '../recording/exchange.js';
import type { Trail } from '../recording/trail.js';
import type { Attempt } from '../upstream/attempt.js';

/** The error code that the log shows for a try that ended because another target was faster. */
const LOST = 'hedge_lost';

/** Endpoints that leave nothing at the provider, so sending a request twice costs money and nothing else. */
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
 * A request that is ready to be sent. A hedged fallback sends it to two targets at once: the second time it is a `fork` with a trail of
 * its own, and the winner's trail is the one that is recorded.
 */
export class SendableRequest {
  /** The other one of two has won: nothing more is sent. */
  isOver = false;
  /** The try that is under way, or has answered. */
  private running: Attempt | null = null;
  private resolveSent: (() => void) | null = null;

  constructor(
    readonly exchange: Exchange,
    readonly caller: Principal,
    readonly read: ReadRequest,
    public trail: Trail = exchange.entry.trail,
  ) {}

  /** Stored answers are found again by their id: of two, one would stay at the provider unknown. */
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

  /** Throws once the other one of two has won. */
  checkWanted(): void {
    if (this.isOver) throw lost();
  }

  began(attempt: Attempt): void {
    this.running = attempt;
    this.resolveSent?.();
  }

  /** The last try was written down, so there is nothing left to end. */
  gaveUp(): void {
    this.running = null;
  }

  fork(): SendableRequest {
    return new SendableRequest(this.exchange, this.caller, this.read, this.trail.fork());
  }

  /** Goes on as the fork, which is not used any more. */
  adopt({ trail }: SendableRequest): void {
    this.exchange.entry.follows(trail);
    this.trail = trail;
  }

  /** Ends it and writes down the try that was under way: its provider has begun to work and is paid for that. */
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
