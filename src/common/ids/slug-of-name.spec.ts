import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSlug } from '../http/validators.js';
import { slugOfName, withSuffix } from './slug-of-name.js';

describe('slugOfName', () => {
  it.each([
    ['OpenAI (Production)', 'openai-production'],
    ['  Crème brûlée  ', 'creme-brulee'],
    ['🚀', 'virtual-key'],
    ['a'.repeat(200), 'a'.repeat(48)],
  ])('turns "%s" into "%s"', (name, slug) => {
    expect(slugOfName(name, 'virtual-key')).toBe(slug);
  });

  it('makes a slug of any name, also with a suffix', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        expect(isSlug(slugOfName(name, 'virtual-key'))).toBe(true);
        expect(isSlug(withSuffix(slugOfName(name, 'virtual-key')))).toBe(true);
      }),
    );
  });

  it('gives another suffix each time', () => {
    expect(withSuffix('a')).not.toBe(withSuffix('a'));
  });
});
