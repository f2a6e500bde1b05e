import type { CheckSubject, TextFilter } from '../check.js';
import { type DetectedValue, type Detector, type Replace, Scanner, type TextEdit } from './scanner.js';

/** Texts up to this size are scanned at once; further ones in stretches, with other requests in between. */
const STRETCH_CHARS = 16 * 1024;
/** What a text costs besides its characters: a request may have hundreds of thousands of short ones. */
const TEXT_CHARS = 128;

interface Scan {
  readonly detectors: readonly Detector[];
  readonly replace: Replace;
  /** Findings are replaced; otherwise they are only reported. */
  readonly redacts: boolean;
}

/** The texts with their findings replaced: first those that span neighbouring parts of a message, then those within each text. */
export function filteredTexts(
  { texts, runs }: Pick<CheckSubject, 'texts' | 'runs'>,
  scan: Scan,
): readonly string[] | Promise<readonly string[]> {
  const parts = runs.reduce((sum, { positions }) => sum + positions.length, 0);
  const cost = texts.reduce((sum, { length }) => sum + length + TEXT_CHARS, parts * TEXT_CHARS);
  const stretches = filteredInStretches({ texts, runs }, scan);
  return cost <= STRETCH_CHARS ? finished(stretches) : betweenOthers(stretches);
}

/** Without pauses. */
function finished<Result>(steps: Generator<void, Result, void>): Result {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

async function betweenOthers<Result>(steps: Generator<void, Result, void>): Promise<Result> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    await new Promise(setImmediate);
  }
}

/** Yields where other requests may go first. */
function* filteredInStretches(
  { texts, runs }: Pick<CheckSubject, 'texts' | 'runs'>,
  scan: Scan,
): Generator<void, readonly string[], void> {
  const out = [...texts];
  for (const { positions } of runs) {
    yield* filterRun(out, positions, scan);
    // Translations leave blank parts out, so a model may read their neighbours as one text.
    const filled = positions.filter((position) => (out[position] ?? '').trim() !== '');
    if (filled.length > 1 && filled.length < positions.length) yield* filterRun(out, filled, scan);
  }
  let cost = 0;
  for (const [index, text] of out.entries()) {
    if (mayHave(scan.detectors, text))
      out[index] = yield* scanned(new Scanner(scan.detectors, scan.replace), text);
    cost += text.length + TEXT_CHARS;
    if (cost <= STRETCH_CHARS) continue;
    cost = 0;
    yield;
  }
  return out;
}

/** Replaces, in the texts at these positions, the findings that span several of them. */
function* filterRun(texts: string[], positions: readonly number[], scan: Scan): Generator<void, void, void> {
  const parts = positions.map((position) => texts[position] ?? '');
  const changed = yield* filteredAcross(parts, scan);
  for (const [index, position] of positions.entries()) texts[position] = changed[index] ?? '';
}

/** A short text without any match needs no scanner. */
function mayHave(detectors: readonly Detector[], text: string): boolean {
  if (text.length > STRETCH_CHARS) return true;
  return detectors.some(({ pattern }) => {
    pattern.lastIndex = 0;
    return pattern.test(text);
  });
}

/** Replaces the findings that begin in one part and end in a later one. The replacement is in the part where its finding begins. */
function* filteredAcross(
  parts: readonly string[],
  { detectors, replace, redacts }: Scan,
): Generator<void, readonly string[], void> {
  const values: DetectedValue[] = [];
  const edits: TextEdit[] = [];
  const note: Replace = (found) => {
    values.push(found);
    return found.value;
  };
  yield* scanned(new Scanner(detectors, note, edits), parts.join(''));
  const across = editsAcross(parts, edits)
    .filter(({ index, part, at }) => !isWholeIn(part, at, (values[index] as DetectedValue).detector))
    .map(({ index, edit }) => ({ ...edit, text: replace(values[index] as DetectedValue) }));
  return redacts && across.length > 0 ? editedParts(parts, across) : parts;
}

/** An edit of the joined text that ends in a later part than it begins in. */
interface EditAcross {
  readonly index: number;
  readonly edit: TextEdit;
  /** Where it begins. */
  readonly part: string;
  readonly at: number;
}

function editsAcross(parts: readonly string[], edits: readonly TextEdit[]): EditAcross[] {
  const across: EditAcross[] = [];
  let start = 0;
  let next = 0;
  for (const part of parts) {
    const end = start + part.length;
    for (let edit = edits[next]; edit && edit.start < end; edit = edits[++next])
      if (edit.end > end) across.push({ index: next, edit, part, at: edit.start - start });
    start = end;
  }
  return across;
}

/**
 * Whether the part has a finding of its own there, so that what follows in the next part is another text: `jane@example.com` and `Thanks`.
 * A credential goes on in the next part.
 */
function isWholeIn(part: string, at: number, detector: Detector): boolean {
  if (detector.tail) return false;
  const edits: TextEdit[] = [];
  const scanner = new Scanner([detector], ({ value }) => value, edits);
  scanner.feed(part);
  scanner.end();
  return edits.some(({ start }) => start === at);
}

/** Looks for findings that begin in one text and end in the next one, by the rule of `filteredTexts`. */
export class AcrossFilter implements TextFilter {
  private readonly edits: TextEdit[] = [];
  private readonly found: Detector[] = [];
  private readonly scanner: Scanner;
  hasFailed = false;

  constructor(
    detectors: readonly Detector[],
    private readonly before: string,
  ) {
    const note: Replace = ({ detector, value }) => {
      this.found.push(detector);
      return value;
    };
    this.scanner = new Scanner(detectors, note, this.edits);
    this.feed(before);
  }

  feed(text: string): string {
    return this.looked(this.scanner.feed(text));
  }

  end(): string {
    return this.looked(this.scanner.end());
  }

  private looked(out: string): string {
    const { before, edits, found } = this;
    this.hasFailed ||= edits.some(
      ({ start, end }, index) =>
        start < before.length && end > before.length && !isWholeIn(before, start, found[index] as Detector),
    );
    return out;
  }
}

/** The parts after edits of their joined text, which are in order. */
function editedParts(parts: readonly string[], edits: readonly TextEdit[]): string[] {
  let start = 0;
  let next = 0;
  return parts.map((part) => {
    let out = '';
    let at = 0;
    const end = start + part.length;
    for (let edit = edits[next]; edit && edit.start < end; edit = edits[next]) {
      if (edit.start >= start) out += part.slice(at, edit.start - start) + edit.text;
      at = Math.min(edit.end, end) - start;
      if (edit.end > end) break;
      next++;
    }
    out += part.slice(at);
    start = end;
    return out;
  });
}

function* scanned(scanner: Scanner, text: string): Generator<void, string, void> {
  let out = '';
  for (let from = 0; from < text.length; from += STRETCH_CHARS) {
    out += scanner.feed(text.slice(from, from + STRETCH_CHARS));
    if (from + STRETCH_CHARS < text.length) yield;
  }
  return out + scanner.end();
}
