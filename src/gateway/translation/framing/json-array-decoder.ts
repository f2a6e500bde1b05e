import type { StreamEvent } from '../../../providers/translation.js';
import { JsonObjects } from '../../recording/json-objects.js';
import type { FrameDecoder } from './frame-decoder.js';

/** The objects of a JSON array, or a single object: https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent */
export class JsonArrayDecoder implements FrameDecoder {
  private events: StreamEvent[] = [];
  private readonly objects = new JsonObjects((data) => this.events.push({ event: null, data }));
  readonly isBetweenFrames = false;

  feed(chunk: Buffer): readonly StreamEvent[] {
    this.objects.feed(chunk);
    const { events } = this;
    this.events = [];
    return events;
  }

  end(): readonly StreamEvent[] {
    return [];
  }
}
