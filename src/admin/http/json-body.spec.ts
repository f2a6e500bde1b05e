import { describe, expect, it } from 'vitest';
import { parseJsonBody } from './json-body.js';

const parse = (text: string) => parseJsonBody(Buffer.from(text));

const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

describe('parseJsonBody', () => {
  it.each(['', '  \n'])('takes "%s" for an empty object', (text) => {
    expect(parse(text)).toEqual({});
  });

  it('reads an object, emoji included', () => {
    expect(parse('{"name":"🚀 prod","note":"__proto__"}')).toEqual({ name: '🚀 prod', note: '__proto__' });
  });

  it.each([
    ['a broken object', '{"name":', 'invalid_json'],
    ['a text', '"name"', 'invalid_request'],
    ['null', 'null', 'invalid_request'],
    ['__proto__', '{"__proto__":{"admin":true}}', 'invalid_json'],
    ['__proto__ further in', '{"a":[{"__proto__":1}]}', 'invalid_json'],
    ['constructor.prototype', '{"constructor":{"prototype":{"admin":true}}}', 'invalid_json'],
    ['constructor', '{"constructor":"a word"}', 'invalid_json'],
    ['a NUL', '{"name":"a\\u0000b"}', 'invalid_json'],
    ['a lone surrogate', '{"name":"\\ud800"}', 'invalid_json'],
    ['a lone surrogate in a name', '{"\\udc00":1}', 'invalid_json'],
  ])('refuses %s', (_, text, code) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code }));
  });

  it('does not quote the body of the client', () => {
    expect(() => parse('{"key":"sk-canary"')).not.toThrow(/canary/);
    expect(() => parse('{"key":"sk-canary"')).toThrow('it ends too early, at line 1, column 19');
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(() => parseJsonBody(Buffer.from('{"name":"\xe9"}', 'latin1'))).toThrow('not UTF-8');
  });

  it('reads 64 levels and refuses more, however many', () => {
    expect(parse(nested(64))).toBeTypeOf('object');
    expect(() => parse(nested(65))).toThrow('nested deeper than 64');
    expect(() => parse(nested(200_000))).toThrow('nested deeper than 64');
  });
});
