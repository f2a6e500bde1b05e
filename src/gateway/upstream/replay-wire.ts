import { AppError } from '../../common/errors/app-error.js';
import type { StoredResponse } from '../types/stored-answer.js';
import type { Wire, WireHandler } from './wire.js';

const OK = 200;

/** A cached response as a wire: apart from the socket, it is handled like any other response, chunk by chunk as it was received. */
export function replayWire(stored: StoredResponse): Wire {
  return {
    dispatch: (_, handler) => {
      new Replay(stored, handler).start();
    },
  };
}

/** Plays at the reader's pace, without a pause of its own. */
class Replay {
  private next = 0;
  private isPlaying = false;
  private isResumed = false;
  private hasEnded = false;

  constructor(
    private readonly stored: StoredResponse,
    private readonly handler: WireHandler,
  ) {}

  start(): void {
    this.handler.onConnect((reason) => this.abort(reason));
    if (this.hasEnded) return;
    this.handler.onHeaders(OK, this.stored.headers, () => this.play(), '');
    this.play();
  }

  /** A reader may resume while it takes a chunk: that is one run, not two. */
  private play(): void {
    this.isResumed = true;
    if (this.isPlaying) return;
    this.isPlaying = true;
    while (this.isResumed && !this.hasEnded) {
      const chunk = this.stored.chunks[this.next++];
      if (!chunk) return this.complete();
      this.isResumed = false;
      if (this.handler.onData(chunk)) this.isResumed = true;
    }
    this.isPlaying = false;
  }

  private complete(): void {
    this.hasEnded = true;
    this.handler.onComplete();
  }

  private abort(reason?: Error): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.handler.onError(reason ?? new AppError('upstream_error', { detail: 'the request was cancelled' }));
  }
}
