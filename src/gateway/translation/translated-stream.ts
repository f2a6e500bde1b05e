import { chatCompletionsUsage } from '../../providers/endpoints/chat-completions.js';
import { jsonText } from '../../common/json/deep-json.js';
import type { Json } from '../../providers/endpoint.js';
import type {
  ChunkTranslator,
  EventTranslator,
  HubError,
  StreamEvent,
  TranslatedEvent as Step,
} from '../../providers/translation.js';
import { note, noteSoFar, noteText, type Reading } from '../recording/reading.js';
import { decoderFor, encodeSse, type FrameDecoder } from '../framing/index.js';
import { hubEvents } from './hub-events.js';
import type { ActiveTranslation } from './outgoing.js';
import { RepeatedFrames } from './repeated-frames.js';

const NOTHING: Step = { chunks: [] };

const BROKEN_OFF: HubError = {
  message: 'The provider ended the stream before the answer was complete.',
  type: 'upstream_error',
  code: 'upstream_error',
  param: null,
};

const UNREADABLE: HubError = { ...BROKEN_OFF, message: 'The provider sent a stream that cannot be read.' };

/**
 * One stream in translation: takes the provider's bytes and returns the client's text, and reads the usage. Once it `hasEnded`, it returns
 * nothing more.
 */
export class TranslatedStream {
  private readonly frames: FrameDecoder;
  private readonly events: EventTranslator;
  private readonly client: ChunkTranslator;
  /** Null if each of the client's events differs. */
  private readonly repeated: RepeatedFrames | null;
  /** The translation of the last event. */
  private last: Step = NOTHING;
  /** Why the response is incomplete; null while it may still complete, and when it has. */
  error: HubError | null = null;
  hasEnded = false;

  constructor(
    { translation, context, clientBody }: ActiveTranslation,
    private readonly reading: Reading,
  ) {
    const { translator, format } = translation;
    this.frames = decoderFor(translator?.stream?.framing ?? 'sse');
    this.events = translator?.stream?.open(context) ?? hubEvents();
    this.client = format ? format.open(clientBody, context) : hubChunks(clientBody);
    this.repeated = this.client.isUniform ? new RepeatedFrames() : null;
  }

  feed(bytes: Buffer): string {
    if (this.hasEnded) return '';
    return this.oneMore(bytes) ?? this.read(bytes);
  }

  /** Translates frames like those before; null for all others. */
  private oneMore(bytes: Buffer): string | null {
    const translated = this.repeated && this.repeated.translated(bytes);
    if (!translated) return null;
    for (const text of translated.texts) {
      this.last.again?.(text);
      noteText(this.reading, text);
    }
    return translated.out;
  }

  private read(bytes: Buffer): string {
    const wasBetweenFrames = this.frames.isBetweenFrames;
    const frames = this.framesOf(() => this.frames.feed(bytes));
    if (!frames) return this.fail(UNREADABLE);
    const text = this.translated(frames);
    if (this.repeated) this.learn(this.repeated, bytes, text, wasBetweenFrames && frames.length === 1);
    return text;
  }

  /** `isAlone`: the bytes contain at most one frame, from its beginning. */
  private learn(repeated: RepeatedFrames, bytes: Buffer, text: string, isAlone: boolean): void {
    const { chunks, again } = this.last;
    const [chunk] = chunks;
    if (chunk && chunks.length === 1 && again && isAlone && this.frames.isBetweenFrames)
      repeated.learn(bytes, chatCompletionsUsage.outputText(chunk), text);
    else repeated.forget();
  }

  /** The provider closed the stream. */
  end(): string {
    if (this.hasEnded) return '';
    const frames = this.framesOf(() => this.frames.end());
    if (!frames) return this.fail(UNREADABLE);
    const last = this.translated(frames);
    if (this.hasEnded) return last;
    return last + this.step(this.events.end()) + (this.hasEnded ? '' : this.fail(BROKEN_OFF));
  }

  /** Null if the bytes are not frames: an error of the decoder would not be caught above. */
  private framesOf(read: () => readonly StreamEvent[]): readonly StreamEvent[] | null {
    try {
      return read();
    } catch {
      return null;
    }
  }

  /** Ends the client's stream with an error in its own dialect. */
  fail(error: HubError): string {
    if (this.hasEnded) return '';
    this.hasEnded = true;
    this.error = error;
    return encoded(this.client.fail(error));
  }

  private translated(frames: readonly StreamEvent[]): string {
    let text = '';
    for (const frame of frames) {
      if (this.hasEnded) break;
      this.last = this.events.event(frame);
      text += this.step(this.last);
    }
    return text;
  }

  private step({ chunks, soFar, error, isDone }: Step): string {
    let text = '';
    if (soFar) noteSoFar(this.reading, soFar);
    for (const chunk of chunks) text += this.pass(chunk);
    if (error) return text + this.fail(error);
    if (!isDone) return text;
    this.hasEnded = true;
    return text + encoded(this.client.end());
  }

  private pass(chunk: Json): string {
    this.reading.firstEventAt ??= performance.now();
    note(this.reading, chatCompletionsUsage, chunk);
    return encoded(this.client.chunk(chunk));
  }
}

function encoded(events: readonly StreamEvent[]): string {
  let text = '';
  for (const event of events) text += encodeSse(event);
  return text;
}

const DONE: readonly StreamEvent[] = [{ event: null, data: '[DONE]' }];

/** A stream for clients of the hub's own format, which receive the usage only on request. */
function hubChunks(clientBody: Json): ChunkTranslator {
  const options = clientBody.stream_options as { include_usage?: unknown } | null | undefined;
  const wantsUsage = options?.include_usage === true;
  return {
    chunk: (hub) => (wantsUsage || !isUsageAlone(hub) ? [{ event: null, data: jsonText(hub) }] : []),
    isUniform: true,
    end: () => DONE,
    fail: (error) => [{ event: null, data: JSON.stringify({ error }) }],
  };
}

function isUsageAlone({ choices, usage }: Json): boolean {
  return Array.isArray(choices) && choices.length === 0 && usage !== undefined;
}
