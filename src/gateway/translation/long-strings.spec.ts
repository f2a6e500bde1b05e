import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../providers/endpoint.js';
import { LongStrings } from './long-strings.js';

const LINE = 'He said "no – never", and wrote C:\\new\n\tto 😀 of them\u0001. ';
const long = (chars: number): string => LINE.repeat(Math.ceil(chars / LINE.length)).slice(0, chars);

function parsed(bytes: Buffer): Json {
  return JSON.parse(bytes.toString('utf8')) as Json;
}

const knownIn = (source: string) => {
  const bytes = Buffer.from(source);
  return LongStrings.of(bytes, parsed(bytes));
};

/** JSON as Python and others write it: characters that could stay plain may be escaped. */
const escaped = (json: string): string =>
  json.replaceAll(/[^\n\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

describe('long strings', () => {
  it('leave with the bytes with which they came', () => {
    const text = long(9_000);
    const source = escaped(JSON.stringify({ messages: [{ role: 'user', content: text }] }));
    const { messages } = parsed(Buffer.from(source)) as { messages: { content: string }[] };
    const written = knownIn(source)?.write({ system: [{ type: 'text', text: messages[0]?.content }] });
    expect(written && parsed(written)).toEqual({ system: [{ type: 'text', text }] });
    expect(source).toContain(written?.toString('latin1').slice(30, -10) ?? 'nothing');
  });

  it('say the same wherever a translation has put them, whoever wrote the JSON', () => {
    const part = fc.oneof(
      fc.string(),
      fc.constantFrom('\\', '"', '\\"', '\\\\"', '😀', '\ud83d', '–', '\u0000', LINE),
    );
    const text = fc
      .tuple(fc.array(part, { maxLength: 6 }), fc.constantFrom(0, 1, 10, 100, 1_000))
      .map(([parts, times]) => parts.join('').repeat(times));
    const document = fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom('__proto__', '1', 'a"b', 'é', long(1_100))),
      fc.oneof(text, fc.array(text, { maxLength: 4 }), fc.dictionary(fc.string(), text), fc.integer()),
    );
    fc.assert(
      fc.property(document, fc.boolean(), fc.constantFrom(0, 1, 2), (json, isEscaped, indent) => {
        const text = JSON.stringify(json, null, indent);
        const bytes = Buffer.from(isEscaped ? escaped(text) : text);
        const source = parsed(bytes);
        const moved = { more: 1, rest: [source, { again: source }], ...source };
        const known = LongStrings.of(bytes, source);
        const written = known ? known.write(moved) : Buffer.from(JSON.stringify(moved));
        expect(JSON.stringify(parsed(written)) === JSON.stringify(moved)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it('are distinguished when they have the same length', () => {
    const [one, other] = ['a'.repeat(5_000), 'b'.repeat(5_000)];
    const known = knownIn(JSON.stringify({ one, other }));
    expect(known && parsed(known.write({ other, one, again: other, joined: one + other }))).toEqual({
      other,
      one,
      again: other,
      joined: one + other,
    });
  });

  it('are the later ones where a careless client wrote a field twice', () => {
    const texts = ['a', 'b', 'c'].map((char) => char.repeat(5_000));
    const field = fc.tuple(fc.constantFrom('text', 'more', '1'), fc.constantFrom(...texts, 'short', '"'));
    fc.assert(
      fc.property(fc.array(field, { minLength: 1, maxLength: 6 }), (fields) => {
        const source = `{${fields.map(([name, value]) => `"${name}":${JSON.stringify(value)}`).join()}}`;
        const json = parsed(Buffer.from(source));
        const moved = { ...json, texts };
        const known = knownIn(source);
        const written = known ? known.write(moved) : Buffer.from(JSON.stringify(moved));
        expect(parsed(written)).toEqual(moved);
      }),
      { numRuns: 200 },
    );
  });

  it('are known beside fields that are named by numbers, unless they are in one', () => {
    const messages = [{ role: 'user', content: long(9_000) }];
    const beside = knownIn(JSON.stringify({ logit_bias: { 50256: -100, 7: 1 }, messages }));
    expect(beside && parsed(beside.write({ messages }))).toEqual({ messages });
    expect(knownIn(`{"b":{"text":"${'x'.repeat(9_000)}","1":"y"}}`)).toBeNull();
  });

  it('are rewritten when their bytes are not UTF-8', () => {
    const bytes = Buffer.from(JSON.stringify({ text: long(9_000) }).replaceAll(/[^ -~]/g, '-'), 'latin1');
    bytes[110] = 0xff;
    const source = parsed(bytes);
    const written = LongStrings.of(bytes, source)?.write(source);
    expect(written && isUtf8(written)).toBe(true);
    expect(written && parsed(written)).toEqual(source);
  });

  it('are not looked for in short texts, and not among many short values', () => {
    expect(knownIn(JSON.stringify({ text: long(5_000) }))).toBeNull();
    const many = Array.from({ length: 2_000 }, (_, at) => ({ at, name: `number ${at}` }));
    expect(knownIn(JSON.stringify({ text: long(9_000), many }))).toBeNull();
  });

  it('ignore a marker that came with the input', () => {
    const text = long(9_000);
    const known = knownIn(JSON.stringify({ text }));
    const forged = { first: '\u0000:0', second: '\u00000', text };
    expect(known && parsed(known.write(forged))).toEqual(forged);
  });
});
