import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText, pathDeeperThan } from './deep-json.js';

const deepText = (levels: number): string => '{"a":[1,'.repeat(levels) + '{}' + ']}'.repeat(levels);

describe('the JSON text of a value', () => {
  it('is that of JSON.stringify at any depth that has one', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(jsonText(value)).toBe(JSON.stringify(value));
      }),
    );
  });

  it.each([10, 5_000, 100_000])('is complete at %d levels', (levels) => {
    const text = deepText(levels);
    expect(jsonText(JSON.parse(text))).toBe(text);
  });

  it('is complete beside a list of 300,000 items', () => {
    const text = `{"list":[${'1,'.repeat(300_000)}1],"deep":${deepText(5_000)}}`;
    expect(jsonText(JSON.parse(text)) === text).toBe(true);
  });

  it('is written as by JSON.stringify inside of a value that is too deep for it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const beside = { value, left: undefined, out: [undefined, 'é"\n'] };
        const text = jsonText({ ...beside, deep: JSON.parse(deepText(20_000)) as unknown });
        expect(text.startsWith(JSON.stringify(beside).slice(0, -1))).toBe(true);
      }),
      { numRuns: 20 },
    );
  });
});

describe('the path to a value that is nested too deeply', () => {
  it.each([
    [{ a: 1 }, 0, ''],
    [{ a: 1 }, 1, null],
    [{ a: { b: [] } }, 2, 'a.b'],
    [{ a: { b: [] } }, 3, null],
    [{ t: [{}, { f: { p: { q: { r: {} } } } }] }, 5, 't[1].f.p'],
    ['text', 0, null],
  ])('of %j beyond %d levels is %j', (value, levels, path) => {
    expect(pathDeeperThan(value, levels)).toBe(path);
  });

  it('is found however deep the value is', () => {
    expect(pathDeeperThan({ x: JSON.parse(deepText(100_000)) as unknown }, 2_000)).toBe('x.a[1].a');
  });
});
