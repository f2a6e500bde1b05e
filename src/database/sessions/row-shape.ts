import pg from 'pg';

/** A column as PostgreSQL describes it. */
export interface FieldDescription {
  readonly name: string;
  readonly dataTypeID: number;
}

type ReadColumn = (text: string) => unknown;

/** https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat */
const TIMESTAMPTZ = 1184;
const TEXT_ARRAY = 1009;

/**
 * How the rows of a statement are read. Making one takes longer than reading a row with it, so that of a statement which a session
 * knows is kept.
 */
export class RowShape {
  private constructor(
    readonly fields: readonly FieldDescription[],
    private readonly readers: readonly ReadColumn[],
    /** All columns, in their order, so that the rows need not grow. */
    private readonly empty: Readonly<Record<string, null>>,
  ) {}

  static of(fields: readonly FieldDescription[]): RowShape {
    return new RowShape(
      fields,
      fields.map(({ dataTypeID }) => readerOf(dataTypeID)),
      Object.fromEntries(fields.map(({ name }) => [name, null])),
    );
  }

  /** A row as `pg` reads it. Throws when it has not as many columns as were described, or one that cannot be read. */
  read(values: readonly (string | null)[]): Record<string, unknown> {
    const { fields, readers } = this;
    if (values.length !== fields.length)
      throw new Error(`A row has ${values.length} columns where ${fields.length} were described.`);
    const row: Record<string, unknown> = { ...this.empty };
    for (let at = 0; at < fields.length; at++) {
      const [value, field, read] = [values[at], fields[at], readers[at]];
      if (typeof value === 'string' && field && read) row[field.name] = read(value);
    }
    return row;
  }
}

/** Types of databases have more numbers than the library has names for. */
const parserOf = pg.types.getTypeParser as (type: number) => ReadColumn;

function readerOf(type: number): ReadColumn {
  const usual = parserOf(type);
  if (type === TIMESTAMPTZ) return (text) => momentOf(text) ?? usual(text);
  if (type === TEXT_ARRAY) return (text) => plainItems(text) ?? usual(text);
  return usual;
}

const ZERO = 48;
/** Where the digits of `2030-01-31 12:00:00` stand, and where signs between them. */
const SIGNS = { 4: '-', 7: '-', 10: ' ', 13: ':', 16: ':' } as const;
const SECONDS_LENGTH = 19;
const UTC = '+00';

/**
 * A moment in UTC after the year 99, as sessions in UTC write it (`2030-01-31 12:00:00.123456+00`), to the millisecond. Null for every
 * other one: a regular expression, as the library uses, takes ten times as long.
 */
export function momentOf(text: string): Date | null {
  const end = text.length - UTC.length;
  if (!text.endsWith(UTC) || end < SECONDS_LENGTH || end > SECONDS_LENGTH + 7) return null;
  for (const [at, sign] of SIGN_PLACES) if (text[at] !== sign) return null;
  const year = number(text, 0, 4);
  if (year < 100) return null;
  const day = [number(text, 5, 7) - 1, number(text, 8, 10)] as const;
  const time = [number(text, 11, 13), number(text, 14, 16), number(text, 17, 19)] as const;
  return new Date(Date.UTC(year, ...day, ...time, millisecondsOf(text, end)));
}

const SIGN_PLACES = Object.entries(SIGNS).map(([at, sign]) => [Number(at), sign] as const);

/** Digits behind the point that are left out are zeros, and those behind the third are finer than a `Date`. */
function millisecondsOf(text: string, end: number): number {
  let milliseconds = 0;
  for (let at = SECONDS_LENGTH + 1, weight = 100; at < end && weight >= 1; at++, weight /= 10)
    milliseconds += (text.charCodeAt(at) - ZERO) * weight;
  return milliseconds;
}

function number(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) value = value * 10 + text.charCodeAt(at) - ZERO;
  return value;
}

/** What an item may not have that stands for itself: https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
const NOT_PLAIN = /["\\{}]|null/i;

/** The items of a list of texts that are written without quotes; null for every other list. */
export function plainItems(text: string): string[] | null {
  const inside = text.slice(1, -1);
  if (!text.startsWith('{') || NOT_PLAIN.test(inside)) return null;
  return inside === '' ? [] : inside.split(',');
}
