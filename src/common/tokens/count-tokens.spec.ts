import { countTokens as exact } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { countTokens } from './count-tokens.js';

const prose = 'The quick brown fox jumps over the lazy dog, and nobody minds. ';

describe('countTokens', () => {
  it('counts nothing in an empty text', () => {
    expect(countTokens('')).toBe(0);
  });

  it('agrees with the tokenizer on prose, however long', () => {
    const text = prose.repeat(500);

    expect(countTokens(text)).toBe(exact(text));
  });

  it('counts words that look like control tokens as text', () => {
    expect(countTokens('<|endoftext|> ends here <|im_start|>')).toBeGreaterThan(5);
  });

  it('takes lone surrogates, NUL and characters of two units', () => {
    expect(countTokens('\ud800 \udc00 \u0000')).toBeGreaterThan(0);
    expect(countTokens('😀'.repeat(1000))).toBeGreaterThanOrEqual(1000);
  });

  it('estimates a text that is too long to count, within one in a hundred', () => {
    const text = prose.repeat(20_000);

    expect(Math.abs(countTokens(text) / exact(text) - 1)).toBeLessThan(0.01);
  });

  it('needs bounded time for 4 MiB of Chinese characters without a repetition', () => {
    const text = String.fromCharCode(
      ...Array.from({ length: 4096 }, (_, index) => 0x4e00 + ((index * 7919) % 20_000)),
    ).repeat(1024);
    const before = process.cpuUsage();

    expect(countTokens(text)).toBeGreaterThan(1_000_000);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(8000);
  });

  it.each([
    ['one letter', 'a'],
    ['white space', ' '],
    ['line breaks', '\n'],
    ['Japanese without a space', '日本語'],
    ['emoji', '😀'],
    ['marks upon marks', 'a\u0301\u0302'],
  ])('needs bounded time for 4 MiB of %s', (_, unit) => {
    const text = unit.repeat((4 * 1024 * 1024) / unit.length);
    const before = process.cpuUsage();

    expect(countTokens(text)).toBeGreaterThan(1000);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(8000);
  });
});
