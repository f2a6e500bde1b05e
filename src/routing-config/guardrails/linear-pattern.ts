import { RE2JS } from 're2js';

/** A compiled pattern is a program; a larger one takes longer per character. */
const PROGRAM_STEPS_MAX = 2_000;

/**
 * A pattern of RE2's syntax, which takes time proportional to the text: https://github.com/google/re2/wiki/Syntax. Throws an Error that
 * names the problem.
 */
export function linearPattern(source: string): RE2JS {
  const compiled = RE2JS.compile(source);
  if (compiled.programSize() > PROGRAM_STEPS_MAX) throw new Error('the pattern is too large');
  return compiled;
}

/** What is wrong with a pattern, as text for users; null if it is valid. */
export function patternProblem(source: string): string | null {
  try {
    linearPattern(source);
    return null;
  } catch (error) {
    const reason =
      error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'it cannot be read';
    return `it is not a valid RE2 pattern (lookaround and backreferences are not supported): ${reason}`;
  }
}
