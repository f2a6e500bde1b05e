import { linearPattern, patternProblem } from '../../routing-config/guardrails/linear-pattern.js';

const PATTERN_CHARS_MAX = 1_000;
const EXCLUSION = '^(?!';

/** A pattern of model names. */
export interface NamePattern {
  test(name: string): boolean;
}

/** Compiled once. The sources are those of the price data, so there are as many as the data has. */
const compiled = new Map<string, NamePattern>();

/**
 * A pattern of RE2's syntax, which takes time proportional to the name: callers choose the name. The price data also excludes names by a
 * lookahead at the beginning, `^(?!.*-tts)gemini`, which RE2 lacks; it is read as two patterns. Throws an Error for any other pattern
 * that RE2 cannot compile.
 */
export function namePattern(source: string): NamePattern {
  const known = compiled.get(source);
  if (known) return known;
  if (source.length > PATTERN_CHARS_MAX) throw new Error(`it has more than ${PATTERN_CHARS_MAX} characters`);
  const pattern = withExclusion(source) ?? linearPattern(source);
  compiled.set(source, pattern);
  return pattern;
}

/** What is wrong with a pattern, as text for users; null if it is valid. */
export function namePatternProblem(source: string): string | null {
  if (source.length > PATTERN_CHARS_MAX) return `it has more than ${PATTERN_CHARS_MAX} characters`;
  try {
    namePattern(source);
    return null;
  } catch {
    return patternProblem(source);
  }
}

/** Null if the pattern does not begin with a lookahead, or if that applies to one of several alternatives. */
function withExclusion(source: string): NamePattern | null {
  if (!source.startsWith(EXCLUSION)) return null;
  const body = source.slice(EXCLUSION.length);
  const end = endOfWhole(body, ')');
  const rest = body.slice(end + 1);
  if (end < 0 || endOfWhole(rest, '|') >= 0) return null;
  const excluded = linearPattern(`^(?:${body.slice(0, end)})`);
  const expression = linearPattern(`^(?:${rest})`);
  return { test: (name) => expression.test(name) && !excluded.test(name) };
}

/** The first `mark` that follows a whole pattern, so that it is neither escaped nor within a class or a group; -1 without one. */
function endOfWhole(source: string, mark: ')' | '|'): number {
  for (let at = source.indexOf(mark); at >= 0; at = source.indexOf(mark, at + 1))
    if (patternProblem(source.slice(0, at)) === null) return at;
  return -1;
}
