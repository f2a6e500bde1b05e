import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { momentOf, plainItems, RowShape } from './row-shape.js';

const parserOf = pg.types.getTypeParser as (type: number) => (text: string) => unknown;
const usual = (type: number, text: string): unknown => parserOf(type)(text);
const TIMESTAMPTZ = 1184;
const TEXT_ARRAY = 1009;

describe('a moment', () => {
  it.each([
    '2030-01-31 12:00:00+00',
    '2030-12-31 23:59:59.5+00',
    '2028-02-29 00:00:00.12+00',
    '2030-01-31 12:00:00.123456+00',
    '2030-01-31 12:00:00.000999+00',
    '1969-12-31 23:59:59.999999+00',
    '0100-01-01 00:00:00+00',
  ])('%s is what the library reads', (text) => {
    expect(momentOf(text)).toEqual(usual(TIMESTAMPTZ, text));
  });

  it('is right to the millisecond', () => {
    for (let ms = 0; ms < 1_000; ms++) {
      const text = `2030-01-31 12:00:00.${String(ms).padStart(3, '0')}+00`;
      expect(momentOf(text)?.toISOString()).toBe(`2030-01-31T12:00:00.${String(ms).padStart(3, '0')}Z`);
    }
  });

  it.each([
    'infinity',
    '-infinity',
    '2030-01-31 12:00:00+05:30',
    '2030-01-31 12:00:00-00',
    '12030-01-31 12:00:00+00',
    '0044-03-15 12:00:00+00 BC',
    '0099-01-01 00:00:00+00',
    '31.01.2030 12:00:00+00',
    '',
  ])('%s is left to the library', (text) => {
    expect(momentOf(text)).toBeNull();
  });
});

describe('a list of texts', () => {
  it.each(['{}', '{a}', '{logs.view,logs.list}', '{a,b c,d}'])('%s is what the library reads', (text) => {
    expect(plainItems(text)).toEqual(usual(TEXT_ARRAY, text));
  });

  it.each(['{"a,b",c}', '{NULL,a}', '{a,null}', '{"",a}', '{{a},{b}}', '{"a\\\\b"}', '[0:1]={a,b}'])(
    '%s is left to the library',
    (text) => {
      expect(plainItems(text)).toBeNull();
    },
  );
});

describe('the shape of rows', () => {
  const shape = RowShape.of([
    { name: 'id', dataTypeID: 25 },
    { name: 'at', dataTypeID: TIMESTAMPTZ },
    { name: 'scopes', dataTypeID: TEXT_ARRAY },
    { name: 'count', dataTypeID: 23 },
  ]);

  it('reads values by their types, and what is null as null', () => {
    expect(shape.read(['a', 'infinity', '{"a,b",NULL}', '7'])).toEqual({
      id: 'a',
      at: Infinity,
      scopes: ['a,b', null],
      count: 7,
    });
    expect(shape.read([null, null, null, null])).toEqual({ id: null, at: null, scopes: null, count: null });
  });

  it('refuses a row with another number of columns', () => {
    expect(() => shape.read(['a'])).toThrow('A row has 1 columns where 4 were described.');
  });
});
