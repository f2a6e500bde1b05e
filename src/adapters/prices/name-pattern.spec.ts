import { describe, expect, it } from 'vitest';
import { namePattern, namePatternProblem } from './name-pattern.js';

describe('a pattern of model names', () => {
  it('takes no longer for a name that is made to be slow', () => {
    const startedAt = performance.now();

    expect(namePattern('^(a+)+$').test(`${'a'.repeat(255)}!`)).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it.each([
    ['^(?!.*-[tT][tT][sS](?:$|-))', ['gemini-3-pro', 'tts'], ['gemini-3-tts', 'gemini-TTS-pro']],
    ['^(?![^/]+/)mistral', ['mistral-large'], ['a/mistral-large', 'b-mistral']],
    ['^(?!a[)]|b\\))(?:a|b)', ['a', 'b-1'], ['a)', 'b)', 'c']],
    ['^o[134]', ['o1', 'o3-mini'], ['gpt-4o1', 'o2']],
  ])('matches as the price data means it: %s', (source, accepted, refused) => {
    const pattern = namePattern(source);

    expect([...accepted, ...refused].filter((name) => pattern.test(name))).toEqual(accepted);
    expect(accepted.filter((name) => new RegExp(source).test(name))).toEqual(accepted);
    expect(refused.filter((name) => new RegExp(source).test(name))).toEqual([]);
  });

  it.each(['(', '(?=a)b', '^a(?!b)', '^(?!a)b|c', '^(?!a', '(a)\\1', 'a'.repeat(1_001)])(
    'names the problem of one that RE2 cannot compile: %s',
    (source) => {
      expect(namePatternProblem(source)).toMatch(/^it (is not a valid RE2 pattern|has more than 1000)/);
    },
  );
});
