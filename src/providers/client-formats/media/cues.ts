import type { Json } from '../../endpoint.js';
import { isObject, list, textOrNull } from '../../endpoints/reading.js';

/** A subtitle with its time, in seconds. */
export interface Cue {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Limits of a cue: two lines of text, and its duration. */
const CUE_CHARS_MAX = 84;
const CUE_SECONDS_MAX = 7;
/** A silence that ends a cue, in seconds. */
const PAUSE = 1;
const SENTENCE_END = /[.!?。！？]$/;
const SECONDS_MAX = 1_000_000;

/** The segments of a transcript; without any, built from its words or else from its text. */
export function cuesOf({ segments, words, text, duration }: Json): readonly Cue[] {
  const segmentCues = list(segments).flatMap((segment) => cueOf(segment, 'text'));
  if (segmentCues.length > 0) return segmentCues;
  const spoken = list(words).flatMap((word) => cueOf(word, 'word'));
  if (spoken.length > 0) return gathered(spoken);
  const line = textOrNull(text);
  return line === null ? [] : [{ start: 0, end: secondsOf(duration) ?? 0, text: line }];
}

function cueOf(item: unknown, name: 'text' | 'word'): readonly Cue[] {
  if (!isObject(item)) return [];
  const start = secondsOf(item.start);
  const end = secondsOf(item.end);
  const text = textOrNull(item[name])?.trim();
  return start === null || end === null || !text ? [] : [{ start, end, text }];
}

const secondsOf = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 && value <= SECONDS_MAX ? value : null;

function gathered(words: readonly Cue[]): readonly Cue[] {
  const cues: Cue[] = [];
  for (const word of words) {
    const last = cues.at(-1);
    if (last && goesOn(last, word))
      cues[cues.length - 1] = { start: last.start, end: word.end, text: `${last.text} ${word.text}` };
    else cues.push(word);
  }
  return cues;
}

const goesOn = (cue: Cue, word: Cue): boolean =>
  !SENTENCE_END.test(cue.text) &&
  word.start - cue.end < PAUSE &&
  word.end - cue.start <= CUE_SECONDS_MAX &&
  cue.text.length + word.text.length < CUE_CHARS_MAX;
