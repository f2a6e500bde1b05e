import type { Json } from '../../providers/endpoint.js';
import type { StreamEvent } from '../../providers/translation.js';
import type { AnswerFrames } from '../translation/framing/index.js';
import type { Facts } from './check.js';
import { denyingBy, mayChange } from './part-filters.js';
import type { Hook } from './run-hooks.js';
import { StreamParts } from './stream-parts.js';
import { withoutLogprobs, withoutRepeated } from './stream-repeats.js';
import type { BodyTexts } from './texts/body-texts.js';
import { rewriteTexts, textsIn } from './texts/body-walk.js';
import { duplicateMember } from '../../common/json/duplicate-members.js';
import type { StreamTexts } from './texts/text-tree.js';

const DONE = '[DONE]';
const BOM = '\ufeff';
/** The name of an event is no sentence. */
const NAME = /^[\w.:-]*$/;
/** Neither blank nor brackets alone. */
const MEANINGFUL = /\w/;
const EVERYTHING: readonly string[] = [''];

/** What a guard is made of. */
export interface StreamGuardParts {
  readonly hooks: readonly Hook[];
  readonly texts: StreamTexts;
  readonly facts: Facts;
  readonly frames: AnswerFrames;
  /** Receives each event as the provider's answer has it, for the meter. */
  readonly onEvent: (json: Json) => void;
}

/** The bytes are no stream of events that could be judged. */
export class UnreadableStream extends Error {
  override readonly name = 'UnreadableStream';
}

/**
 * Guards one stream in the client's own dialect: bytes cut anywhere in; events out, with their texts as the hooks leave them. A text
 * leaves when nothing that is looked for can begin in it any more: in prose that is a word later, and at most the longest thing that is
 * looked for.
 *
 * What leaves is what was read: events are written again, and what is no event does not leave. An event that cannot be read is refused
 * where a hook may deny, or change texts.
 */
export class StreamGuard {
  private readonly parts: StreamParts;
  private readonly changes: boolean;
  private readonly denier: string | null;
  private hasEvents = false;
  private hasBytes = false;
  private isUnreadable = false;
  private unreadableBy: string | null = null;
  /** The provider has said that there is no more. */
  isDone = false;

  constructor(private readonly guarding: StreamGuardParts) {
    const { hooks, facts, texts } = guarding;
    this.parts = new StreamParts(hooks, facts, texts);
    this.changes = mayChange(hooks, facts);
    this.denier = denyingBy(hooks);
  }

  /** Id of the guardrail that has stopped it. Nothing may leave any more. */
  get deniedBy(): string | null {
    return this.parts.deniedBy ?? this.unreadableBy;
  }

  get isDenied(): boolean {
    return this.deniedBy !== null;
  }

  /** The texts so far, as the provider sent them; null when they could not be read, or there was more than can be judged. */
  get texts(): BodyTexts | null {
    return this.isUnreadable ? null : this.parts.texts;
  }

  /** Throws `UnreadableStream`, or a plain Error of the framing, when no guardrail may deny bytes that are no stream of events. */
  feed(bytes: Buffer): string {
    this.hasBytes ||= this.hasEvents || MEANINGFUL.test(bytes.toString('latin1'));
    return this.guarded(() => this.pass(this.guarding.frames.decoder.feed(bytes)));
  }

  end(): string {
    return this.guarded(() => {
      const { frames } = this.guarding;
      const last = this.pass(frames.decoder.end());
      if (this.hasBytes && !this.hasEvents && this.isStrict) throw new UnreadableStream();
      return last + this.written(this.parts.rest(EVERYTHING, null)) + frames.close();
    });
  }

  private get isStrict(): boolean {
    return this.denier !== null || this.changes;
  }

  /** What comes out of a step, unless a guardrail stops the stream there. */
  private guarded(step: () => string): string {
    if (this.isDenied) return '';
    try {
      const out = step();
      return this.isDenied ? '' : out;
    } catch (error) {
      this.isUnreadable = true;
      this.unreadableBy = this.denier;
      if (this.denier === null) throw error;
      return '';
    }
  }

  private pass(events: readonly StreamEvent[]): string {
    let out = '';
    for (const event of events) {
      this.hasEvents = true;
      out += this.step(event);
      if (this.isDenied) return '';
    }
    return out;
  }

  private step(event: StreamEvent): string {
    const { frames } = this.guarding;
    if (this.isStrict && event.event !== null && !NAME.test(event.event)) throw new UnreadableStream();
    if (event.data === DONE) {
      this.isDone = true;
      return this.written(this.parts.rest(EVERYTHING, null)) + frames.encode(event);
    }
    const told = readable(event.data, this.isStrict);
    if (told === null) {
      if (event.data.trim() !== '' && this.isStrict) throw new UnreadableStream();
      return frames.encode(event);
    }
    this.guarding.onEvent(told);
    return this.judged(event, told);
  }

  private judged(event: StreamEvent, told: Json): string {
    const { texts, frames } = this.guarding;
    const json = withoutRepeated(told);
    const found = textsIn(json, texts.tree);
    const outs = found.map((one) => this.parts.through(one, { event, json }));
    const ended = texts.endsOf(json) ?? NONE;
    const before = ended.length > 0 ? this.written(this.parts.rest(ended, { json, found, outs })) : '';
    let index = 0;
    const passed = rewriteTexts(json, texts.tree, () => outs[index++] ?? '');
    // Token by token, probabilities tell the text that is held back or changed.
    const isChanged = passed !== json || this.changes;
    if (!isChanged && json === told) return before + frames.encode(event);
    return before + this.written([{ event, json: isChanged ? withoutLogprobs(passed) : passed }]);
  }

  private written(events: readonly { readonly event: StreamEvent; readonly json: Json }[]): string {
    const { frames } = this.guarding;
    return events
      .map(({ event, json }) => frames.encode({ event: event.event, data: JSON.stringify(json) }))
      .join('');
  }
}

const NONE: readonly string[] = [];

/** The object that an event is; null where it is none, or may be read in two ways. */
function readable(data: string, isStrict: boolean): Json | null {
  const text = data.startsWith(BOM) ? data.slice(BOM.length) : data;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && !(isStrict && duplicateMember(text) !== null) ? (value as Json) : null;
}
