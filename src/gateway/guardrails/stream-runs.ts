import type { Facts } from './check.js';
import { Placeholders } from './placeholders.js';
import { acrossFilters, type FilterStep, PartFilters } from './part-filters.js';
import type { Hook } from './run-hooks.js';
import { EscapedText } from './texts/escaped-text.js';

/** How much of the text before a part is read with it, and how far into the part. Longer than every match that a stream is searched for. */
const ACROSS_CHARS = 1_024;
/** Text is cut once in a while, not at each piece. */
const KEPT_CHARS_MAX = 16 * ACROSS_CHARS;
const BLANK = /\s/;

/** How a model's reader may join two parts. */
const SEPARATORS = ['', ' '] as const;

/** Reads the end of one part with the beginning of the next. */
class AcrossParts {
  private readonly findings: readonly FilterStep[];
  private readonly joined: readonly PartFilters[];
  private charsLeft = ACROSS_CHARS;

  constructor(hooks: readonly Hook[], facts: Facts, before: string) {
    this.findings = acrossFilters(hooks, before);
    // The text before has passed, so that what a filter finds in it alone is not there: it was cut.
    this.joined = SEPARATORS.map((separator) => {
      const filters = new PartFilters(hooks, facts, 'joined');
      filters.feed(before + separator);
      return filters;
    }).filter(({ stoppedBy }) => stoppedBy === null);
  }

  get hasEnded(): boolean {
    return this.charsLeft <= 0;
  }

  /** Id of the guardrail that finds something; null for none. */
  feed(piece: string): string | null {
    this.charsLeft -= piece.length;
    for (const { filter } of this.findings) filter.feed(piece);
    for (const filters of this.joined) filters.feed(piece);
    return this.foundBy();
  }

  end(): string | null {
    for (const { filter } of this.findings) filter.end();
    for (const filters of this.joined) filters.end();
    return this.foundBy();
  }

  private foundBy(): string | null {
    const finding = this.findings.find(({ filter }) => filter.hasFailed);
    return finding?.id ?? this.joined.find(({ stoppedBy }) => stoppedBy !== null)?.stoppedBy ?? null;
  }
}

/** One text that a stream sends in several parts: the blocks of a message. */
class StreamRun {
  private readonly escaped = new EscapedText();
  /** The part that the last piece belongs to. */
  private part: string | null = null;
  private tail = '';
  private across: AcrossParts | null = null;

  constructor(private readonly open: (before: string) => AcrossParts) {}

  add(part: string, text: string): string | null {
    const piece = this.escaped.read(text);
    const isNext = this.part !== null && part !== this.part;
    const stopped = isNext ? this.finish() : null;
    if (isNext) this.across = this.open(tailOf(this.tail));
    this.part = part;
    this.tail += piece;
    if (this.tail.length > KEPT_CHARS_MAX) this.tail = tailOf(this.tail);
    return stopped ?? this.search(piece);
  }

  /** Decides what a part that is over has left open. */
  end(part: string): string | null {
    return part === this.part ? this.finish() : null;
  }

  private search(piece: string): string | null {
    const found = this.across?.feed(piece) ?? null;
    if (this.across?.hasEnded) this.across = null;
    return found;
  }

  private finish(): string | null {
    const found = this.across?.end() ?? null;
    this.across = null;
    return found;
  }
}

/**
 * Judges the texts that a stream cuts over several parts as the whole response is judged: each part has been judged alone, here the end of
 * one is read with the beginning of the next.
 *
 * The piece that completes a finding is not sent. It cannot be rewritten, because the part before it has left, so a text that would have to
 * change stops the stream like a denial.
 */
export class StreamRuns {
  private readonly runs = new Map<string, StreamRun>();
  private readonly runOfPart = new Map<string, StreamRun>();
  private readonly probing: Facts;

  constructor(
    private readonly hooks: readonly Hook[],
    facts: Facts,
  ) {
    this.probing = probing(facts);
  }

  /** Id of the guardrail that stops the stream at this piece; null for none. */
  add(name: string, part: string, text: string): string | null {
    const known = this.runs.get(name);
    const run = known ?? new StreamRun((before) => new AcrossParts(this.hooks, this.probing, before));
    if (!known) this.runs.set(name, run);
    this.runOfPart.set(part, run);
    return run.add(part, text);
  }

  /** A text that is whole. */
  addWhole(name: string, part: string, text: string): string | null {
    return this.add(name, part, text) ?? this.end(part);
  }

  end(part: string): string | null {
    const run = this.runOfPart.get(part);
    this.runOfPart.delete(part);
    return run?.end(part) ?? null;
  }
}

/** A probe must not number the placeholders that the client receives. */
export const probing = (facts: Facts): Facts => ({ ...facts, placeholders: new Placeholders() });

/** The end of a text, cut at a blank if there is one: half a number could look like another. */
export function tailOf(text: string): string {
  if (text.length <= ACROSS_CHARS) return text;
  const tail = text.slice(-ACROSS_CHARS);
  const blank = tail.search(BLANK);
  return blank >= 0 && blank < ACROSS_CHARS / 2 ? tail.slice(blank) : tail;
}
