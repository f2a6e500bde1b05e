import { AppError } from '../../common/errors/app-error.js';
import type { StoredAnswer } from '../types/stored-answer.js';
import type { Wire, WireHandler } from './wire.js';

const OK = 200;

/** A cached response as a wire: apart from the socket, it is handled like any other response, chunk by chunk as it was received. */
export function replayWire(stored: StoredAnswer): Wire {
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
  private isOver = false;

  constructor(
    private readonly stored: StoredAnswer,
    private readonly handler: WireHandler,
  ) {}

  start(): void {
    this.handler.onConnect((reason) => this.abort(reason));
    if (this.isOver) return;
    this.handler.onHeaders(OK, this.stored.headers, () => this.play(), '');
    this.play();
  }

  /** A reader may resume while it takes a chunk: that is one run, not two. */
  private play(): void {
    this.isResumed = true;
    if (this.isPlaying) return;
    this.isPlaying = true;
    while (this.isResumed && !this.isOver) {
      const chunk = this.stored.chunks[this.next++];
      if (!chunk) return this.complete();
      this.isResumed = false;
      if (this.handler.onData(chunk)) this.isResumed = true;
    }
    this.isPlaying = false;
  }

  private complete(): void {
    this.isOver = true;
    this.handler.onComplete();
  }

  private abort(reason?: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.handler.onError(reason ?? new AppError('upstream_error', { detail: 'the request was cancelled' }));
  }
}
