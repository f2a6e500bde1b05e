import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromCursor, toCursor } from './log-cursor.js';

const position = { at: '2026-11-21T10:15:30.123456Z', id: '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10' };
const made = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('the cursor of the request log', () => {
  it('comes back as the position it was made of', () => {
    expect(fromCursor(toCursor(position))).toEqual(position);
  });

  it.each([
    ['no base64url', '%%%'],
    ['no JSON', Buffer.from('{').toString('base64url')],
    ['no list', made({ at: position.at, id: position.id })],
    ['a list that goes on', made([position.at, position.id, 1])],
    ['a list that ends early', made([position.at])],
    ['SQL in the time', made([`${position.at}' OR '1'='1`, position.id])],
    ['SQL in the id', made([position.at, `${position.id}'; DROP TABLE request_logs`])],
    ['a day that does not exist', made(['2026-02-31T10:15:30.123456Z', position.id])],
    ['numbers', made([1, 2])],
    ['too long a text', made([position.at, position.id]).padEnd(10_000, 'A')],
  ])('is refused when it is %s', (_, cursor) => {
    expect(() => fromCursor(cursor)).toThrow('The parameter "cursor"');
  });

  it('is refused with the same text, whatever it contains', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(() => fromCursor(Buffer.from(text).toString('base64url'))).toThrow('The parameter "cursor"');
      }),
    );
  });
});
