import type { AnswerWanted } from '../upstream/wire.js';
import { type RecordedAnswer, Recording, type RecordingFor } from './recording.js';

/** What a lead tells those who sent it. */
export interface LeadListener {
  keep(answer: RecordedAnswer): void;
  /** There will be nothing to keep, or not soon: nobody should wait. */
  giveUp(): void;
}

/** A request that the cache could not answer, on its way to somebody who can. */
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

  /** The exchange is over. What the client got as a good answer is still kept when the provider's last byte has come. */
  close(): void {
    if (!this.recording?.isApproved) this.leading.giveUp();
  }
}
