import type { Json } from '../../providers/endpoint.js';
import type { StreamEvent } from '../../providers/translation.js';
import { parsedObject } from '../journal/metering.js';
import { decoderFor, encodeSse, type FrameDecoder } from '../translating/framing/index.js';
import type { Facts } from './check.js';
import { mayChange, PartFilters } from './part-filters.js';
import type { Hook } from './run-hooks.js';
import type { StreamTexts } from './texts/endpoint-texts.js';
import { rewriteTexts } from './texts/text-tree.js';

/** Text of one answer that is kept for the verdict at its end. A longer answer cannot be judged. */
export const JUDGED_CHARS_MAX = 8 * 1024 * 1024;

const DONE = '[DONE]';
const EVERYTHING: readonly string[] = [''];

/** One part of an answer on its way: a choice, a block, an item. */
interface Part {
  readonly filters: PartFilters;
  /** All of it, as it came. */
  text: string;
  isOver: boolean;
  /** The last event that had text of it, which the rest of the text can leave in. */
  carrier: { readonly event: StreamEvent; readonly json: Json };
}

/** What a guard is made of. */
export interface Guarding {
  readonly hooks: readonly Hook[];
  readonly texts: StreamTexts;
  readonly facts: Facts;
  /** Hears each event as the provider's answer had it, for the meter. */
  readonly onEvent: (json: Json) => void;
}

/**
 * Guards one stream in the client's own dialect: events in, cut anywhere; events out, their texts as the hooks leave
 * them. A text leaves when nothing that is looked for can begin in it any more: in prose that is a word later, and at
 * most the longest thing that is looked for.
 */
export class StreamGuard {
  private readonly frames: FrameDecoder = decoderFor('sse');
  private readonly parts = new Map<string, Part>();
  private readonly changes: boolean;
  private chars = 0;
  /** Id of the guardrail that has stopped it. Nothing may leave any more. */
  deniedBy: string | null = null;
  /** The provider has said that there is no more. */
  isDone = false;

  constructor(private readonly guarding: Guarding) {
    this.changes = mayChange(guarding.hooks, guarding.facts);
  }

  get isDenied(): boolean {
    return this.deniedBy !== null;
  }

  /** The texts so far, as the provider sent them; null when there was more than can be judged. */
  get texts(): readonly string[] | null {
    return this.chars > JUDGED_CHARS_MAX ? null : [...this.parts.values()].map(({ text }) => text);
  }

  /** Throws a plain Error when the bytes are no stream of events. */
  feed(bytes: Buffer): string {
    return this.pass(this.frames.feed(bytes));
  }

  end(): string {
    const last = this.pass(this.frames.end());
    return this.isDenied ? '' : last + this.rest(EVERYTHING, new Set());
  }

  private pass(events: readonly StreamEvent[]): string {
    let out = '';
    for (const event of events) {
      out += this.step(event);
      if (this.isDenied) return '';
    }
    return out;
  }

  private step(event: StreamEvent): string {
    if (event.data === DONE) {
      this.isDone = true;
      return this.rest(EVERYTHING, new Set()) + encodeSse(event);
    }
    const told = parsedObject(event.data);
    if (!told) return encodeSse(event);
    this.guarding.onEvent(told);
    const json = withoutRepeated(told);
    const { texts } = this.guarding;
    const ended = texts.endsOf(json) ?? [];
    const met = new Set<string>();
    const passed = rewriteTexts(json, texts.deltas, (text, place) => {
      const name = texts.partOf(json) + place;
      met.add(name);
      const isLast = ended.some((beginning) => name.startsWith(beginning));
      return this.through(name, text, { event, json, isLast });
    });
    const before = ended.length > 0 ? this.rest(ended, met) : '';
    if (!this.changes) return before + (passed === told ? encodeSse(event) : encoded(event, passed));
    return before + encoded(event, withoutLogprobs(this.changedWholes(passed)));
  }

  private through(name: string, text: string, { event, json, isLast }: Step): string {
    const { hooks, facts } = this.guarding;
    const carrier = { event, json };
    const part = this.parts.get(name) ?? {
      filters: new PartFilters(hooks, facts),
      text: '',
      isOver: false,
      carrier,
    };
    this.parts.set(name, part);
    part.carrier = carrier;
    this.chars += text.length;
    if (this.chars <= JUDGED_CHARS_MAX) part.text += text;
    let out = part.filters.feed(text);
    if (isLast && part.filters.stoppedBy === null) out += part.filters.end();
    part.isOver = isLast;
    this.deniedBy ??= part.filters.stoppedBy;
    return this.isDenied ? '' : out;
  }

  /** Events with what still waits of the parts that are complete, but for those that the event itself has ended. */
  private rest(beginnings: readonly string[], met: ReadonlySet<string>): string {
    let out = '';
    for (const [name, part] of this.parts) {
      if (part.isOver || met.has(name) || !beginnings.some((beginning) => name.startsWith(beginning)))
        continue;
      part.isOver = true;
      const text = part.filters.end();
      this.deniedBy ??= part.filters.stoppedBy;
      if (text !== '' && !this.isDenied) out += this.carried(name, text, part.carrier);
    }
    return out;
  }

  private carried(name: string, text: string, { event, json }: Part['carrier']): string {
    const { texts } = this.guarding;
    const part = texts.partOf(json);
    return encoded(
      event,
      withoutLogprobs(rewriteTexts(json, texts.deltas, (_, place) => (part + place === name ? text : ''))),
    );
  }

  /** Texts that an event repeats as a whole come out as their pieces did. */
  private changedWholes(json: Json): Json {
    const { hooks, facts, texts } = this.guarding;
    return rewriteTexts(json, texts.wholes, (text) => {
      const filters = new PartFilters(hooks, facts);
      const out = filters.feed(text);
      return filters.stoppedBy === null ? out + filters.end() : '';
    });
  }
}

interface Step {
  readonly event: StreamEvent;
  readonly json: Json;
  readonly isLast: boolean;
}

function encoded(event: StreamEvent, json: Json): string {
  return encodeSse({ event: event.event, data: JSON.stringify(json) });
}

/**
 * Without the whole answer so far, which Perplexity's chunks tell beside each piece: it ends where nobody can judge yet.
 * https://github.com/BerriAI/litellm/issues/8455
 */
function withoutRepeated(json: Json): Json {
  const { choices } = json;
  if (!Array.isArray(choices) || !choices.some(repeats)) return json;
  return {
    ...json,
    choices: choices.map((choice: Json) => (repeats(choice) ? withoutMessage(choice) : choice)),
  };
}

const repeats = (choice: Json | null): boolean =>
  choice?.delta !== undefined && choice.delta !== null && choice.message !== undefined;

function withoutMessage(choice: Json): Json {
  return Object.fromEntries(Object.entries(choice).filter(([name]) => name !== 'message'));
}

/** Probabilities are told token by token, and the tokens are the text as it was. */
export function withoutLogprobs(json: Json): Json {
  const { choices, logprobs } = json;
  if (Array.isArray(logprobs) && logprobs.length > 0) return { ...json, logprobs: [] };
  if (!Array.isArray(choices) || !choices.some((choice: Json | null) => choice?.logprobs)) return json;
  return {
    ...json,
    choices: choices.map((choice: Json | null) =>
      choice?.logprobs ? { ...choice, logprobs: null } : choice,
    ),
  };
}
