import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editedJson } from './edited-json.js';

/** A JSON text as a careless client writes it: blanks, escapes, and numbers that JavaScript cannot hold. */
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

describe('editedJson', () => {
  it('is the text itself where nothing has changed, whatever stands around it', () => {
    fc.assert(
      fc.property(json, blank, (value, gap) => {
        const before: unknown = JSON.parse(value);
        expect(editedJson(gap + value + gap, before, before)).toBe(value);
      }),
    );
  });

  it('means the changed value, and copies every field beside the change', () => {
    fc.assert(
      fc.property(
        fc.array(json, { minLength: 1, maxLength: 5 }),
        fc.nat(),
        fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown),
        (values, pick, put) => {
          const fields = values.map((value, at) => `"f${at}": ${value}`);
          const changed = `f${pick % values.length}`;
          const before = JSON.parse(`{ ${fields.join(' , ')} }`) as Record<string, unknown>;
          const after = { ...before, [changed]: put, added: put };

          const edited = editedJson(`{ ${fields.join(' , ')} }`, before, after);

          expect(JSON.parse(edited)).toEqual(after);
          values.forEach((value, at) => {
            if (`f${at}` !== changed) expect(edited).toContain(`"f${at}":${value}`);
          });
        },
      ),
    );
  });

  it('copies the items of a list beside those that were taken out or changed', () => {
    const given = '{"a":[ {"n":1.0,"x":1}, {"n":12345678901234567890,"x":2} , 9007199254740993, "]}," ]}';
    const before = JSON.parse(given) as { a: [object, { n: number; x: number }, number, string] };
    const changed = { n: before.a[1].n };

    expect(editedJson(given, before, { a: before.a.slice(1) })).toBe(
      '{"a":[{"n":12345678901234567890,"x":2},9007199254740993,"]},"]}',
    );
    expect(editedJson(given, before, { a: [before.a[0], changed, before.a[2], before.a[3]] })).toBe(
      '{"a":[{"n":1.0,"x":1},{"n":12345678901234567890},9007199254740993,"]},"]}',
    );
  });

  it('takes the last of two fields of one name, as JSON.parse does', () => {
    const given = '{"a":1,"n":1.0,"a":2.0}';

    expect(editedJson(given, JSON.parse(given), { a: 2, n: 1, b: 3 })).toBe('{"a":2.0,"n":1.0,"b":3}');
  });
});
