import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editedJson } from './edited-json.js';

/** A JSON text as an imprecise client writes it: blanks, escapes, and numbers that JavaScript cannot hold. */
const number = fc.constantFrom('12345678901234567890', '-0', '1.0', '1e400', '0.1000', '6.02e23', '7');
const text = fc.oneof(
  fc.string().map((value) => JSON.stringify(value)),
  fc.constantFrom('"\\u00e9\\"\\\\"', '""'),
);
const blank = fc.constantFrom('', ' ', '\n\t');
const { value: json } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    number,
    text,
    fc.constantFrom('true', 'null'),
    fc
      .tuple(fc.array(tie('value'), { maxLength: 4 }), blank)
      .map(([items, gap]) => `[${gap}${items.join(`${gap},`)}${gap}]`),
    fc
      .tuple(fc.array(tie('value'), { maxLength: 4 }), blank)
      .map(
        ([values, gap]) =>
          `{${gap}${values.map((one, at) => `"k${at}"${gap}:${gap}${one}`).join(`,${gap}`)}}`,
      ),
  ),
}));

const edited = (text: string, after: (before: EditedFields) => unknown): string => {
  const before = JSON.parse(text) as EditedFields;
  return editedJson(Buffer.from(text), before, after(before)).toString();
};
type EditedFields = Readonly<Record<string, unknown>>;

describe('editedJson', () => {
  it('is byte for byte the same where nothing changed, whatever surrounds it', () => {
    fc.assert(
      fc.property(json, blank, fc.constantFrom('', '\ufeff'), (value, gap, mark) => {
        const bytes = Buffer.from(mark + gap + value + gap);
        const before: unknown = JSON.parse(value);
        expect(editedJson(bytes, before, before)).toBe(bytes);
        expect(editedJson(bytes, before, JSON.parse(value)).equals(bytes)).toBe(true);
      }),
    );
  });

  it('replaces, takes out and adds fields, and keeps every byte beside them', () => {
    const fate = fc.constantFrom('kept', 'changed', 'removed');
    const field = fc.record({ value: json, gap: blank, fate });
    fc.assert(
      fc.property(fc.array(field, { maxLength: 6 }), fc.string(), fc.boolean(), (fields, put, isAdding) => {
        const written = fields.map(({ value, gap }, at) => `"f\\u0065${at}"${gap}:${gap}${value}`);
        const text = `\n{${written.map((one, at) => `${fields[at]?.gap}${one} `).join(',')} }\r\n`;
        const before = JSON.parse(text) as EditedFields;
        const kept = Object.entries(before).filter((_, at) => fields[at]?.fate !== 'removed');
        const after = Object.fromEntries([
          ...kept.map(([name, value]) => [name, fateOf(fields, name) === 'changed' ? `=${put}` : value]),
          ...(isAdding ? [['added', put]] : []),
        ]) as EditedFields;

        const result = editedJson(Buffer.from(text), before, after).toString();

        expect(JSON.parse(result)).toEqual(after);
        expect([result.slice(0, 2), result.slice(-2)]).toEqual(['\n{', '\r\n']);
        fields.forEach(({ fate: one, gap }, at) => {
          if (one === 'kept') expect(result).toContain(written[at]);
          if (one === 'changed')
            expect(result).toContain(`"f\\u0065${at}"${gap}:${gap}${JSON.stringify(`=${put}`)}`);
        });
      }),
    );
  });

  it.each<[string, (before: EditedFields) => unknown, string]>([
    ['{ "a" : 1 , "b" : 2.0 , "c" : 3 }', ({ b, c }) => ({ b, c }), '{ "b" : 2.0 , "c" : 3 }'],
    ['{ "a" : 1 , "b" : 2.0 , "c" : 3 }', ({ a, c }) => ({ a, c }), '{ "a" : 1 , "c" : 3 }'],
    ['{ "a" : 1 , "b" : 2.0 , "c" : 3 }', ({ a, b }) => ({ a, b }), '{ "a" : 1 , "b" : 2.0 }'],
    ['{ "a" : 1 , "b" : 2.0 }', () => ({}), '{  }'],
    ['{ "a" : 1 , "b" : 2.0 }', () => ({ n: 1 }), '{ "n":1 }'],
    ['{ }', () => ({ n: 1, m: 2 }), '{"n":1,"m":2 }'],
    [
      '{ "a" : { "x" : 1.0 , "y" : 2 } }',
      ({ a }) => ({ a: { ...(a as EditedFields), y: 3 } }),
      '{ "a" : { "x" : 1.0 , "y" : 3 } }',
    ],
  ])('of %j', (text, after, expected) => {
    expect(edited(text, after)).toBe(expected);
  });

  it('keeps the items of a list beside those that were taken out or changed', () => {
    const given = '{"a":[ {"n":1.0,"x":1}, {"n":12345678901234567890,"x":2} , 9007199254740993, "]}," ]}';
    type Items = readonly [object, { n: number; x: number }, number, string];

    expect(edited(given, ({ a }) => ({ a: (a as Items).slice(1) }))).toBe(
      '{"a":[ {"n":12345678901234567890,"x":2} , 9007199254740993, "]}," ]}',
    );
    expect(edited(given, ({ a }) => ({ a: (a as Items).slice(0, 3) }))).toBe(
      '{"a":[ {"n":1.0,"x":1}, {"n":12345678901234567890,"x":2} , 9007199254740993 ]}',
    );
    expect(
      edited(given, ({ a }) => ({
        a: (a as Items).map((one, at) => (at === 1 ? { n: (one as Items[1]).n } : one)),
      })),
    ).toBe('{"a":[ {"n":1.0,"x":1}, {"n":12345678901234567890} , 9007199254740993, "]}," ]}');
  });

  it('changes and removes every field of a name, and allows duplicates of others', () => {
    const given = '{"a":1,"n":1.0,"a":2.0,"n":1}';

    expect(edited(given, (before) => ({ ...before, a: 3 }))).toBe('{"a":3,"n":1.0,"a":3,"n":1}');
    expect(edited(given, ({ n }) => ({ n }))).toBe('{"n":1.0,"n":1}');
    expect(edited(given, (before) => before)).toBe(given);
  });

  it('keeps bytes that are not UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xc3]), Buffer.from('","b":1}')]);
    const before = JSON.parse(bytes.toString()) as EditedFields;

    expect(editedJson(bytes, before, { ...before, b: 'é' }).toString('latin1')).toBe(
      bytes.toString('latin1').replace('"b":1', `"b":"${Buffer.from('é').toString('latin1')}"`),
    );
  });
});

const fateOf = (fields: readonly { readonly fate: string }[], name: string): string | undefined =>
  fields[Number(name.slice(2))]?.fate;
