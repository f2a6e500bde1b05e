import { stringify } from 'csv-stringify/sync';
import { array, assert, constantFrom, oneof, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvRecord } from './encode.js';

/** Byte for byte as a general CSV writer writes it. */
const asStringified = (cells: readonly string[]): string =>
  stringify([[...cells]], { quoted: true, escape_formulas: true, record_delimiter: '\r\n' });

describe('a record of CSV', () => {
  it('quotes what is there and doubles quotes', () => {
    expect(csvRecord(['a', '', 'say "yes", or\r\nno'])).toBe('"a",,"say ""yes"", or\r\nno"\r\n');
  });

  it('is no empty line where its only cell is empty: readers would pass over it', () => {
    expect(csvRecord([''])).toBe('""\r\n');
  });

  it.each(['=', '+', '-', '@', '\t', '\r', '\uFF1D', '\uFF0B', '\uFF0D', '\uFF20'])(
    'lets no cell begin a formula with %j, nor one behind a quote of its own',
    (sign) => {
      expect(csvRecord([`${sign}1"x`])).toBe(`"'${sign}1""x"\r\n`);
      expect(csvRecord([`a${sign}`])).toBe(`"a${sign}"\r\n`);
    },
  );

  it('equals the output of a general writer for the same cells, whatever is in them', () => {
    const signs = [
      '=',
      '+',
      '-',
      '@',
      '\t',
      '\r',
      '\n',
      '"',
      ',',
      ';',
      "'",
      '\uFF1D',
      '\uFF0B',
      '\uFF0D',
      '\uFF20',
      '\uFEFF',
      '\u0000',
      '\uD83D\uDE00',
    ];
    const sharp = array(constantFrom(...signs)).map((some) => some.join(''));
    const cell = oneof(sharp, string({ unit: 'binary' }), string());
    assert(
      property(array(cell, { minLength: 2, maxLength: 6 }), (cells) => {
        expect(csvRecord(cells)).toBe(asStringified(cells));
      }),
      { numRuns: 1_000 },
    );
  });
});
