import type { AnswerWanted } from '../upstream/wire.js';
import { type RecordedAnswer, Recording, type RecordingFor } from './recording.js';

/** Receives the result of a request that leads others. */
export interface LeadListener {
  keep(answer: RecordedAnswer): void;
  /** There will be nothing to cache, or not soon: other requests should not wait. */
  giveUp(): void;
}

/** A request that the cache could not serve, on its way to the provider. */
export class Lead implements AnswerWanted, RecordingFor {
  private recording: Recording | null = null;

  constructor(private readonly leading: LeadListener) {}

  /** For the next attempt. */
  record(): Recording {
    return (this.recording = new Recording(this));
  }

  keep(answer: RecordedAnswer): void {
    this.leading.keep(answer);
  }

  drop(): void {
    this.leading.giveUp();
  }

  /** The exchange has ended. A response that the client received in full is still cached when the provider's last byte arrives. */
  close(): void {
    if (!this.recording?.isApproved) this.leading.giveUp();
  }
}
