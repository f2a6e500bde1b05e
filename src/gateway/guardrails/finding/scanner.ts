/**
 * Detects values in a text by their format.
 *
 * Whether a match begins at a position must depend only on the character before it and the next `charsMax` characters, so that a stream,
 * cut anywhere, gives the same findings as the whole text.
 */
export interface Detector {
  readonly kind: string;
  /** Global. Looks behind one character at most, and has no unbounded repetition. */
  readonly pattern: RegExp;
  /** Length of the longest match, with its lookahead. */
  readonly charsMax: number;
  /** Characters that a match may consist of. */
  readonly alphabet: RegExp;
  /** How many characters of a match are real; 0 for none. Default: all. */
  readonly realChars?: (match: string) => number;
  /** Characters that extend the finding if they follow, without limit. */
  readonly tail?: RegExp;
}

export interface DetectedValue {
  readonly detector: Detector;
  readonly value: string;
}

/** A replaced stretch of the whole text. */
export interface TextEdit {
  readonly start: number;
  /** Includes the tail of the finding. */
  end: number;
  readonly text: string;
}

/** Returns the replacement of a finding. */
export type Replace = (found: DetectedValue) => string;

/**
 * Finds and replaces from left to right. Text that cannot be decided yet is held: in prose the last word, and never more than the longest
 * possible match.
 */
export class Scanner {
  /** Undecided text, preceded by one decided character. */
  private text = '';
  private from = 0;
  /** Set inside a finding that has an unlimited tail. */
  private tail: RegExp | null = null;
  /** Position of `text` in the whole text. */
  private offset = 0;

  /** `edits` receives the replacements, in order. */
  constructor(
    private readonly detectors: readonly Detector[],
    private readonly replace: Replace,
    private readonly edits: TextEdit[] | null = null,
  ) {}

  feed(text: string): string {
    this.text += text;
    return this.scan(this.frontier());
  }

  end(): string {
    return this.scan(this.text.length);
  }

  /** Everything before this position is decided. */
  private frontier(): number {
    let frontier = this.text.length;
    for (const { charsMax, alphabet } of this.detectors) {
      const earliest = Math.max(this.from, this.text.length - charsMax);
      let at = this.text.length;
      while (at > earliest && alphabet.test(this.text.charAt(at - 1))) at--;
      frontier = Math.min(frontier, at);
    }
    return isHighSurrogate(this.text, frontier - 1) ? frontier - 1 : frontier;
  }

  private scan(until: number): string {
    const next = this.detectors.map(() => -1);
    let out = '';
    let at = this.skipTail(this.from);
    while (at < until) {
      const hit = this.firstFrom(at, until, next);
      if (!hit) break;
      const text = this.replace({ detector: hit.detector, value: hit.value });
      out += this.text.slice(at, hit.at) + text;
      this.tail = hit.detector.tail ?? null;
      this.edits?.push({ start: this.offset + hit.at, end: this.offset + hit.at + hit.value.length, text });
      at = this.skipTail(hit.at + hit.value.length);
    }
    const decided = Math.max(at, until);
    out += this.text.slice(at, decided);
    const keep = Math.max(0, decided - 1);
    this.offset += keep;
    this.text = this.text.slice(keep);
    this.from = decided - keep;
    return out;
  }

  private skipTail(from: number): number {
    let at = from;
    if (this.tail) {
      while (at < this.text.length && this.tail.test(this.text.charAt(at))) at++;
      if (at < this.text.length) this.tail = null;
      const edit = this.edits?.at(-1);
      if (edit) edit.end = this.offset + at;
    }
    return at;
  }

  /** The leftmost finding that begins before `until`; of two at the same position, the first detector's. */
  private firstFrom(from: number, until: number, next: number[]): Hit | null {
    let best: Hit | null = null;
    for (const [index, detector] of this.detectors.entries()) {
      const known = next[index] as number;
      if (known >= until) continue;
      const hit = this.find(detector, Math.max(from, known), until);
      next[index] = hit ? hit.at : until;
      if (hit && (!best || hit.at < best.at)) best = hit;
    }
    return best;
  }

  private find(detector: Detector, from: number, until: number): Hit | null {
    const { pattern, realChars } = detector;
    for (let at = from; at < until;) {
      pattern.lastIndex = at;
      const match = pattern.exec(this.text);
      if (!match || match.index >= until) return null;
      const chars = realChars ? realChars(match[0]) : match[0].length;
      if (chars > 0) return { detector, at: match.index, value: match[0].slice(0, chars) };
      at = match.index + 1;
    }
    return null;
  }
}

/** Half of a surrogate pair must not be released alone. */
export function isHighSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800;
}

interface Hit {
  readonly detector: Detector;
  readonly at: number;
  readonly value: string;
}
