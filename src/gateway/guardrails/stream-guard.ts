import type { Json } from '../../providers/endpoint.js';
import type { StreamEvent } from '../../providers/translation.js';
import type { AnswerFrames } from '../framing/index.js';
import type { Facts } from './check.js';
import { mayChange } from './part-filters.js';
import { type Hook, needsReading } from './run-hooks.js';
import { StreamParts } from './stream-parts.js';
import { withoutLogprobs, withoutRepeated } from './stream-repeats.js';
import type { BodyTexts } from './texts/body-texts.js';
import { utf8ReaderOf } from './texts/charset.js';
import { findTexts, rewriteTexts } from './texts/body-walk.js';
import { duplicateMember } from '../../common/json/duplicate-members.js';
import type { StreamTexts } from './texts/text-tree.js';

const DONE = '[DONE]';
const BOM = '\ufeff';
/** An event's name is not prose. */
const NAME = /^[\w.:-]*$/;
/** More than whitespace and brackets. */
const MEANINGFUL = /\w/;
const EVERYTHING: readonly string[] = [''];

/** Parts of a guard. */
export interface StreamGuardParts {
  readonly hooks: readonly Hook[];
  readonly texts: StreamTexts;
  readonly facts: Facts;
  readonly frames: AnswerFrames;
  /** Of the provider's response, if its bytes are passed; null for a translation. */
  readonly contentType?: string | null;
  /** Each event is a response of its own, as in the output of a batch. */
  readonly isListing?: boolean;
  /** Receives each event as in the provider's response, for the meter. */
  readonly onEvent: (json: Json) => void;
}

/** The bytes are not a stream of events that could be judged. */
export class UnreadableStream extends Error {
  override readonly name = 'UnreadableStream';
}

/**
 * Guards one stream in the client's dialect: takes bytes cut anywhere and returns events with their texts as the hooks leave them. A text
 * is released when no match can begin in it any more: in prose one word later, and at most after the longest possible match.
 *
 * Only what was parsed is released: events are serialized again, and bytes outside of events are dropped. An event that cannot be parsed is
 * refused if a hook may deny or change texts.
 */
export class StreamGuard {
  private readonly parts: StreamParts;
  private readonly changes: boolean;
  /** Id of the guardrail that refuses what it cannot read; null for none. */
  private readonly refuser: string | null;
  private readonly isUtf8: (bytes: Buffer) => boolean;
  private hasEvents = false;
  private hasBytes = false;
  private isUnreadable = false;
  private unreadableBy: string | null = null;
  /** The provider has sent its completion event. */
  isDone = false;

  constructor(private readonly guarding: StreamGuardParts) {
    const { hooks, facts, texts, isListing } = guarding;
    this.parts = new StreamParts(hooks, facts, texts, !isListing);
    this.changes = mayChange(hooks, facts);
    this.isUtf8 = utf8ReaderOf(guarding.contentType);
    this.refuser = hooks.find(needsReading)?.spec.id ?? null;
  }

  /** Id of the guardrail that stopped the stream. Nothing more may be sent. */
  get deniedBy(): string | null {
    return this.parts.deniedBy ?? this.unreadableBy;
  }

  get isDenied(): boolean {
    return this.deniedBy !== null;
  }

  /** The texts so far, as the provider sent them; null when they could not be read or exceed the limit of judging. */
  get texts(): BodyTexts | null {
    return this.isUnreadable ? null : this.parts.texts;
  }

  /** Throws `UnreadableStream`, or a plain Error of the framing, when bytes are not a stream of events and no guardrail may deny them. */
  feed(bytes: Buffer): string {
    this.hasBytes ||= this.hasEvents || MEANINGFUL.test(bytes.toString('latin1'));
    return this.guarded(() => {
      if (this.isStrict && !this.isUtf8(bytes)) throw new UnreadableStream();
      return this.pass(this.guarding.frames.decoder.feed(bytes));
    });
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
    return this.refuser !== null || this.changes;
  }

  /** The output of a step, unless a guardrail stops the stream there. */
  private guarded(step: () => string): string {
    if (this.isDenied) return '';
    try {
      const out = step();
      return this.isDenied ? '' : out;
    } catch (error) {
      this.isUnreadable = true;
      this.unreadableBy = this.refuser;
      if (this.refuser === null) throw error;
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
    const body = readable(event.data, this.isStrict);
    if (body === null) {
      if (event.data.trim() !== '' && this.isStrict) throw new UnreadableStream();
      return frames.encode(event);
    }
    this.guarding.onEvent(body);
    return this.judged(event, body);
  }

  private judged(event: StreamEvent, body: Json): string {
    const { texts, frames } = this.guarding;
    const json = withoutRepeated(body);
    const read = findTexts(json, texts.tree, true);
    if (read.unread) {
      if (this.isStrict) throw new UnreadableStream();
      return frames.encode(event);
    }
    const { found } = read;
    const outs = found.map((one) => this.parts.through(one, { event, json }));
    const ended = texts.endsOf(json) ?? NONE;
    const before = ended.length > 0 ? this.written(this.parts.rest(ended, { json, found, outs })) : '';
    let index = 0;
    const passed = rewriteTexts(json, texts.tree, () => outs[index++] ?? '');
    // Log probabilities would reveal, token by token, text that is held or changed.
    const isChanged = passed !== json || this.changes;
    if (!isChanged && json === body) return before + frames.encode(event);
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

/** The object in an event; null if there is none, or if it is ambiguous. */
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
