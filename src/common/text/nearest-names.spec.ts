import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { didYouMean, nearestNames, nearestPaths, suggestion } from './nearest-names.js';

const IDS = ['openai', 'azure-openai', 'azure-ai', 'mistral-ai', 'groq', 'google', 'together-ai', 'x-ai'];

describe('nearestNames', () => {
  it.each([
    ['opneai', 'openai'],
    ['OpenAI', 'openai'],
    ['together_ai', 'together-ai'],
    ['together.ai', 'together-ai'],
    ['mistral', 'mistral-ai'],
    ['grok', 'groq'],
    ['googel', 'google'],
  ])('takes "%s" for %s first', (asked, meant) => {
    expect(nearestNames(asked, IDS)[0]).toBe(meant);
  });

  it.each(['', '-', 'ab', '__proto__', 'nobody-knows-this-name', '日本語'])(
    'has no guess for "%s"',
    (asked) => {
      expect(nearestNames(asked, IDS)).toEqual([]);
    },
  );

  it('lists every provider of a vendor named by its first name', () => {
    expect(nearestNames('azure', IDS)).toEqual(['azure-ai', 'azure-openai']);
  });

  it('shows the shortest of more names than it lists', () => {
    const filters = ['cache_status', 'not_cache_status', 'not_status_code', 'status_code'];
    expect(nearestNames('status', filters)[0]).toBe('status_code');
  });

  it('finds an id that was mistyped once, whatever the id', () => {
    const mistyped = fc
      .tuple(fc.constantFrom(...IDS.filter((id) => id.length > 4)), fc.nat(), fc.constantFrom('q', '0', '-'))
      .map(([id, at, letter]) => ({
        id,
        asked: id.slice(0, at % id.length) + letter + id.slice((at % id.length) + 1),
      }));
    fc.assert(
      fc.property(mistyped, ({ id, asked }) => {
        expect(nearestNames(asked, IDS)).toContain(id);
      }),
    );
  });

  it('guesses a few known ids at most, and never throws', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (asked) => {
        const guessed = nearestNames(asked, IDS);
        expect(guessed.length).toBeLessThanOrEqual(3);
        for (const id of guessed) expect(IDS).toContain(id);
      }),
    );
  });
});

describe('didYouMean', () => {
  it.each([
    ['stratgy', ['strategy', 'targets', 'retry'], ' (did you mean "strategy"?)'],
    ['virtual_kye', ['virtual_key', 'provider'], ' (did you mean "virtual_key"?)'],
    ['azure', ['azure-ai', 'azure-openai', 'groq'], ' (did you mean "azure-ai" or "azure-openai"?)'],
    ['nothing-like-it', ['strategy'], ''],
    ['strat', ['start', 'migrate', 'doctor'], ' (did you mean "start"?)'],
    [
      'GATEHOUSE_PROT',
      ['GATEHOUSE_PORT', 'GATEHOUSE_HOST', 'GATEHOUSE_ROLE'],
      ' (did you mean "GATEHOUSE_PORT"?)',
    ],
  ])('suggests the known names near "%s"', (asked, known, said) => {
    expect(didYouMean(asked, known)).toBe(said);
  });
});

describe('nearestPaths', () => {
  const KNOWN = ['/v1/configs', '/v1/virtual-keys', '/v1/virtual-keys/:slug', '/v1/files/{id}/content'];

  it.each([
    ['/v1/virtualkeys', ['/v1/virtual-keys']],
    ['/v1/virtualkey/mine', ['/v1/virtual-keys/mine']],
    ['/v1/files/7/contents', ['/v1/files/7/content']],
    ['/v1/virtual-keys/mine/test', []],
    ['/v1/unrelated', []],
  ])('compares %s with the known paths of as many segments', (path, near) => {
    expect(nearestPaths(path, KNOWN)).toEqual(near);
  });
});

describe('suggestion', () => {
  it.each([
    [[], ''],
    [['a'], ' (did you mean a?)'],
    [['a', 'b', 'c'], ' (did you mean a, b or c?)'],
  ])('lists %o', (candidates, text) => {
    expect(suggestion(candidates)).toBe(text);
  });
});
