import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EscapedText, reescaped, unescaped } from './escaped-text.js';
import { personalData } from '../finding/personal-data.js';
import { SECRET_DETECTORS } from '../finding/secrets.js';
import { PII_CATEGORIES } from '../../../routing-config/guardrails/check-parameters.js';

const PIECES = [
  '{"a":"',
  '"}',
  '\\n',
  '\\u00fc',
  '\\u0022',
  '\\"',
  '\\\\',
  '\\q',
  '"',
  '\\',
  '\n',
  'ü',
  'ab',
  '[',
  ' ',
  '1',
  '\\ud83d',
  '\\ude00',
];
const raw = fc.array(fc.constantFrom(...PIECES), { maxLength: 16 }).map((pieces) => pieces.join(''));
const cuts = fc.array(fc.nat(), { maxLength: 6 });

function cut(text: string, at: readonly number[]): string[] {
  const ends = [...at.map((one) => one % (text.length + 1)), text.length].sort((one, other) => one - other);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

/** Passes the pieces through a check that holds a few characters, as checks do. */
function passed(pieces: readonly string[], holds: number): { read: string; written: string } {
  const escaped = new EscapedText();
  let read = '';
  let given = 0;
  let written = '';
  for (const piece of pieces) {
    read += escaped.read(piece);
    const until = Math.max(given, read.length - holds);
    written += escaped.write(read.slice(given, until));
    given = until;
  }
  read += escaped.readEnd();
  return { read, written: written + escaped.write(read.slice(given)) + escaped.writeEnd() };
}

describe('a text that may be JSON', () => {
  it('is read as a parser reads it, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), cuts, (text, at) => {
        const ascii = JSON.stringify({ q: text }).replace(
          /[^\x20-\x7e]/g,
          (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );

        expect(passed(cut(ascii, at), 0).read).toBe(`{"q":"${text}"}`);
      }),
    );
  });

  it('means the same when nothing has changed, wherever it is cut and however much is held back', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom(undefined, 1),
        cuts,
        fc.nat(20),
        (value, indent, at, holds) => {
          const json = JSON.stringify({ value }, null, indent);

          expect(passed(cut(json, at), holds).written).toBe(json);
        },
      ),
    );
  });

  it('keeps every character that is no escape of a printable one, though it is no JSON', () => {
    const printable = (text: string) =>
      text.replace(/\\(?:u([0-9a-f]{4}))/g, (_, code: string) => {
        const char = String.fromCharCode(Number.parseInt(code, 16));
        return /["\\\u0000-\u001f]/.test(char) ? `\\u${code}` : char;
      });
    fc.assert(
      fc.property(raw, cuts, fc.nat(9), (text, at, holds) => {
        const { written } = passed(cut(text, at), holds);
        expect(printable(written)).toBe(printable(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not depend on where it is cut', () => {
    fc.assert(
      fc.property(raw, cuts, fc.nat(9), (text, at, holds) => {
        expect(passed(cut(text, at), holds)).toEqual(passed([text], 0));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['{"to":"joe\\u0040x.org\\n\\"now\\""}', 'joe@x.org', '{{M_1}}', '{"to":"{{M_1}}\\n\\"now\\""}'],
    ['{"card":4111111111111111}', '4111111111111111', '{{CREDIT_CARD_1}}', '{"card":"{{CREDIT_CARD_1}}"}'],
    ['[4111111111111111, 2]', '4111111111111111', '{{CREDIT_CARD_1}}', '["{{CREDIT_CARD_1}}", 2]'],
    [
      'call 4111111111111111: "now"',
      '4111111111111111',
      '{{CREDIT_CARD_1}}',
      'call {{CREDIT_CARD_1}}: "now"',
    ],
    ['{"a":"x"}', 'x', 'a \\ line\n', '{"a":"a \\\\ line\\n"}'],
  ])('is valid again when something in it was replaced: %s', (text, found, by, expected) => {
    expect(reescaped(text, unescaped(text).replace(found, by))).toBe(expected);
  });

  it('has quotation marks only of its own: no detector takes one', () => {
    for (const { alphabet, tail } of [...personalData([...PII_CATEGORIES]), ...SECRET_DETECTORS]) {
      expect([alphabet.test('"'), alphabet.test('\\')]).toEqual([false, false]);
      expect(tail?.test('"') ?? false).toBe(false);
    }
  });
});
