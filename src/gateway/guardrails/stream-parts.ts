import type { Json } from '../../providers/endpoint.js';
import type { StreamEvent } from '../../providers/translation.js';
import type { Facts } from './check.js';
import { PartFilters } from './part-filters.js';
import { StreamJoins } from './stream-joins.js';
import { StreamRuns } from './stream-runs.js';
import type { Hook } from './run-hooks.js';
import { type BodyTexts, listed, type TextRun, textRun } from './texts/body-texts.js';
import { type FoundText, rewriteTexts } from './texts/body-walk.js';
import { isReasoning, NO_RUN } from './texts/message-runs.js';
import { EscapedText, unescaped } from './texts/escaped-text.js';
import type { StreamTexts } from './texts/text-tree.js';

/** Maximum text of one response that is kept for the verdict at its end. A longer response cannot be judged. */
export const JUDGED_CHARS_MAX = 8 * 1024 * 1024;
/** Maximum cached results for texts that events repeat. */
const WHOLES_MAX = 1_000;

/** An event of a stream, with its parsed data. */
export interface ReadEvent {
  readonly event: StreamEvent;
  readonly json: Json;
}

/** An event with its texts and their replacements. */
export interface JudgedEvent {
  readonly json: Json;
  readonly found: readonly FoundText[];
  readonly outs: string[];
}

/** A text of the response, with the run that joins it to others. */
interface SaidText {
  readonly text: string;
  readonly run: string | null;
}

/** One part of a response in progress: a choice, a block, an item. */
interface StreamPart {
  readonly filters: PartFilters;
  readonly escaped: EscapedText;
  /** Its whole text, as received. */
  text: string;
  readonly run: string | null;
  hasEnded: boolean;
  /** The last event with text of this part; a copy of it can carry the rest of the text. */
  carrier: ReadEvent;
}

/** The texts of one stream: each part that continues from event to event has filters of its own, other texts are filtered as a whole. */
export class StreamParts {
  private readonly parts = new Map<string, StreamPart>();
  private readonly ownTexts: SaidText[] = [];
  private readonly beside = new Set<string>();
  private readonly wholes = new Map<string, string>();
  private chars = 0;
  private readonly joins: StreamJoins | null;
  private readonly runs: StreamRuns;
  /** The runs of an event that is a response of its own, or repeats one. */
  private eventRuns: StreamRuns | null = null;
  private event: Json | null = null;
  private events = 0;
  /** Id of the guardrail that stopped the stream. */
  deniedBy: string | null = null;

  constructor(
    private readonly hooks: readonly Hook[],
    private readonly facts: Facts,
    private readonly streamTexts: StreamTexts,
    /** The events continue each other. */
    isJoined = true,
  ) {
    this.joins = isJoined ? new StreamJoins(hooks, facts) : null;
    this.runs = new StreamRuns(hooks, facts);
  }

  /** Null when the text exceeds the limit of judging. */
  get texts(): BodyTexts | null {
    if (this.chars > JUDGED_CHARS_MAX) return null;
    const ownTexts = this.ownTexts.map(({ text }) => text);
    const joined = this.joins?.texts ?? [];
    const every = [...ownTexts.map(unescaped), ...[...this.beside].map(unescaped), ...joined];
    return { ownTexts, every, runs: runsOf(this.ownTexts, every) };
  }

  /** The replacement of a text at this point. */
  through(found: FoundText, read: ReadEvent): string {
    const { text, kind } = found;
    if (kind === 'delta') return this.piece(found, read);
    this.joinWhole(found, read.json);
    const out = this.whole(text, kind !== 'beside');
    this.deniedBy ??= this.joins?.add(found, read.json) ?? null;
    return out;
  }

  /**
   * Events with the held text of completed parts. If the completing event itself has text of a part, the rest is added there instead;
   * `judged` is null when no event completed them.
   */
  rest(beginnings: readonly string[], judged: JudgedEvent | null): ReadEvent[] {
    const events: ReadEvent[] = [];
    for (const [name, part] of this.parts) {
      if (part.hasEnded || !beginnings.some((beginning) => name.startsWith(beginning))) continue;
      part.hasEnded = true;
      this.deniedBy ??= this.runs.end(name);
      const text = part.escaped.write(part.filters.feed(part.escaped.readEnd()) + part.filters.end());
      const rest = text + part.escaped.writeEnd();
      this.deniedBy ??= part.filters.stoppedBy;
      if (rest !== '' && this.deniedBy === null && !this.isAdded(name, rest, judged))
        events.push(this.carried(name, rest, part.carrier));
    }
    return events;
  }

  private piece(found: FoundText, read: ReadEvent): string {
    const { text } = found;
    const name = this.nameOf(found, read.json);
    const known = this.parts.get(name);
    const part = known ?? this.newPart(this.streamTexts.runOf?.(read.json, found.place) ?? null, read);
    if (!known) this.parts.set(name, part);
    part.carrier = read;
    part.hasEnded = false;
    this.chars += text.length;
    if (this.chars <= JUDGED_CHARS_MAX) part.text += text;
    const out = part.escaped.write(part.filters.feed(part.escaped.read(text)));
    this.deniedBy ??= part.filters.stoppedBy;
    if (part.run !== null) this.deniedBy ??= this.runs.add(part.run, name, text);
    return this.deniedBy === null ? out : '';
  }

  /** Reasoning is a part beside the text, also where both have the same place. */
  private nameOf({ place, run }: FoundText, json: Json): string {
    const name = this.streamTexts.partOf(json, place);
    return isReasoning(run) ? `${name}/reasoning` : name;
  }

  private newPart(run: string | null, carrier: ReadEvent): StreamPart {
    const filters = new PartFilters(this.hooks, this.facts);
    const part = { filters, escaped: new EscapedText(), text: '', run, hasEnded: false, carrier };
    this.ownTexts.push(part);
    return part;
  }

  private beginEvent(json: Json): void {
    if (json === this.event) return;
    this.event = json;
    this.events += 1;
    this.eventRuns = null;
  }

  /** Judges a text that is whole in its event with those before it, and notes it. */
  private joinWhole(found: FoundText, json: Json): void {
    this.beginEvent(json);
    const { place, text, run: number } = found;
    const part = `${this.events}/${place}`;
    const run = this.streamTexts.runOf?.(json, place) ?? null;
    if (run === null) {
      this.note(found, number === NO_RUN ? null : `${this.events}/${number}`);
      if (number !== NO_RUN) this.joinInEvent(found, part);
      return;
    }
    this.deniedBy ??= this.runs.addWhole(`${String(json.type)}/${run}`, part, text);
    if (this.note(found, run)) this.deniedBy ??= this.runs.addWhole(run, part, text);
  }

  private joinInEvent({ text, run }: FoundText, part: string): void {
    this.eventRuns ??= new StreamRuns(this.hooks, this.facts);
    this.deniedBy ??= this.eventRuns.addWhole(String(run), part, text);
  }

  /** A text that repeats an earlier one counts once. False for such a one. */
  private note({ text, kind }: FoundText, run: string | null): boolean {
    if (kind === 'repeat' && this.ownTexts.some((one) => one.text === text)) return false;
    if (kind === 'beside' && this.beside.has(text)) return false;
    this.chars += text.length;
    if (this.chars > JUDGED_CHARS_MAX) return true;
    if (kind === 'beside') this.beside.add(text);
    else this.ownTexts.push({ text, run });
    return true;
  }

  private whole(text: string, isSaid: boolean): string {
    const known = isSaid ? undefined : this.wholes.get(text);
    if (known !== undefined) return known;
    const escaped = new EscapedText();
    const filters = new PartFilters(this.hooks, this.facts, isSaid ? 'said' : 'beside');
    const passed = filters.feed(escaped.read(text) + escaped.readEnd());
    const out = escaped.write(filters.stoppedBy === null ? passed + filters.end() : '') + escaped.writeEnd();
    this.deniedBy ??= filters.stoppedBy;
    if (!isSaid && this.wholes.size < WHOLES_MAX) this.wholes.set(text, out);
    return out;
  }

  private isAdded(name: string, rest: string, judged: JudgedEvent | null): boolean {
    if (!judged) return false;
    const { json, found, outs } = judged;
    const at = found.findLastIndex((one) => one.kind === 'delta' && this.nameOf(one, json) === name);
    if (at >= 0) outs[at] = (outs[at] ?? '') + rest;
    return at >= 0;
  }

  /** A copy of a part's last event that carries only this text of it. */
  private carried(name: string, text: string, { event, json }: ReadEvent): ReadEvent {
    const { streamTexts } = this;
    const carrier = streamTexts.carrierOf?.(json) ?? json;
    const type = typeOf(carrier);
    const isRenamed = type !== null && event.event === typeOf(json);
    let isCarried = false;
    const emptied = rewriteTexts(carrier, streamTexts.tree, (one) => {
      const isPlace = !isCarried && one.kind === 'delta' && this.nameOf(one, carrier) === name;
      isCarried ||= isPlace;
      if (isPlace) return text;
      return one.kind === 'delta' || one.kind === 'said' ? '' : this.whole(one.text, false);
    });
    return { event: isRenamed ? { ...event, event: type } : event, json: emptied };
  }
}

/** Google's interactions name an event's type `event_type`. */
function typeOf({ type, event_type }: Json): string | null {
  const named = type ?? event_type;
  return typeof named === 'string' ? named : null;
}

function runsOf(ownTexts: readonly SaidText[], every: readonly string[]): TextRun[] {
  const byRun = new Map<string, number[]>();
  for (const [position, { run }] of ownTexts.entries()) if (run !== null) listed(byRun, run).push(position);
  const written = ownTexts.map(({ text }) => text);
  return [...byRun.values()]
    .filter(({ length }) => length > 1)
    .map((positions) => textRun(positions, written, every));
}
