import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readBySchema } from './read-by-schema.js';

const schema = z.strictObject({
  text: z.string().min(1).max(3),
  whole: z.int().min(1),
  mixed: z.union([z.string(), z.number(), z.boolean()]),
  forms: z.union([z.strictObject({ a: z.string() }), z.strictObject({ b: z.string() })]),
  address: z.url(),
  marked: z.string().regex(/^a/),
  own: z.string().regex(/^b/, 'it must begin with a b'),
  choice: z.enum(['x', 'y', 'z']),
  list: z.array(z.string()).min(1).max(2),
  names: z.record(z.string().max(2), z.string()),
  inner: z.strictObject({ yes: z.boolean() }),
});

const rulesOf = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    (readBySchema(schema, value).mistakes ?? []).map(({ path, rule }) => [path.join('.'), rule]),
  );

describe('a value that is read by a schema', () => {
  it('is given where it has the form', () => {
    expect(readBySchema(z.strictObject({ a: z.string() }), { a: 'x' })).toEqual({ data: { a: 'x' } });
  });

  it('words each mistake in our own terms', () => {
    const wrong = {
      text: 'four',
      whole: 0.5,
      mixed: [],
      forms: { c: 1 },
      address: 'here',
      marked: 'b',
      own: 'c',
      choice: 'w',
      list: ['a', 'b', 'c'],
      names: { long: 'x' },
      inner: { yes: 'no', more: 1, most: 2 },
    };
    expect(rulesOf(wrong)).toEqual({
      text: 'it must have at most 3 characters',
      whole: 'it must be a whole number',
      mixed: 'it must be a string, a number or true or false',
      forms: 'it is not of the form that is needed here',
      address: 'it must be an address such as https://host/path',
      marked: 'it must match /^a/',
      own: 'it must begin with a b',
      choice: 'it must be x, y or z',
      list: 'it must have at most 2 entries',
      'names.long': 'a name in it is invalid: it must have at most 2 characters',
      'inner.yes': 'it must be true or false',
      'inner.more': 'there is no such field here',
      'inner.most': 'there is no such field here',
    });
  });

  it('names what is missing, and never what was sent', () => {
    const rules = rulesOf({ text: '', whole: 0, list: [] });
    expect(rules).toMatchObject({
      text: 'it must have at least 1 character',
      whole: 'it must be at least 1',
      list: 'it must have at least 1 entry',
      mixed: 'it is required and must be a string, a number or true or false',
      choice: 'it is required and must be x, y or z',
      address: 'it is required and must be a string',
      inner: 'it is required and must be an object',
    });
    expect(readBySchema(schema, 'sk-secret').mistakes).toEqual([
      { path: [], rule: 'it must be an object', isUnknown: false },
    ]);
  });
});
