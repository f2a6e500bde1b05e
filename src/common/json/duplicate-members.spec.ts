import fc from 'fast-check';
import { expect, it } from 'vitest';
import { duplicateMember } from './duplicate-members.js';

it.each([
  ['{"a":1,"b":{"a":2},"c":[{"a":1},{"a":2}]}', null],
  ['{"a":1,"a":2}', 'a'],
  ['{"x":[{"a":{}, "b":"\\"a\\":", "a" : []}]}', 'a'],
  ['{"content":1,"conte\\u006et":2}', 'content'],
  ['{"a\\\\":1,"a":2}', null],
  ['{"a":"a","b":"a"}', null],
])('finds the name that an object has twice: %s', (json, expected) => {
  expect(duplicateMember(json)).toBe(expected);
});

it('finds none in what a serializer wrote', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(duplicateMember(JSON.stringify(value))).toBeNull();
    }),
  );
});
