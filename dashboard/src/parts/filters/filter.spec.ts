import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FilterField, filtersText, parseFilters } from './filter';

const FIELDS: readonly FilterField[] = [
  { key: 'status', label: 'Status', operators: ['is'] },
  { key: 'latency', label: 'Latency', operators: ['min', 'max'] },
];

describe('filters as text', () => {
  it('come back as they were written, whatever their values hold', () => {
    const value = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter(
        (text) =>
          text.trim() === text && !text.includes('\\') && !(text.startsWith('"') && text.endsWith('"')),
      );
    fc.assert(
      fc.property(
        fc.array(value.map((text) => ({ field: 'status', operator: 'is', value: text }) as const)),
        (filters) => {
          expect(parseFilters(filtersText(filters), FIELDS)).toEqual({ filters });
        },
      ),
    );
  });

  it('name what cannot be read', () => {
    expect(parseFilters('status:is:429 nonsense', FIELDS)).toEqual({
      problem: 'unreadable',
      text: 'nonsense',
    });
    expect(parseFilters('colour:is:red', FIELDS)).toEqual({ problem: 'unknownField', text: 'colour' });
    expect(parseFilters('status:min:3', FIELDS)).toEqual({ problem: 'unreadable', text: 'status:min:3' });
  });
});
