import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonFault } from './json-fault.js';

describe('what is wrong with a text that is not JSON', () => {
  it.each([
    ['', 'it is empty'],
    [' \n', 'it is empty'],
    ['{"a":1,}', 'unexpected "}" at line 1, column 8'],
    ['{"a": x}', 'unexpected "x" at line 1, column 7'],
    ['{"strategy": ', 'it ends too early, at line 1, column 14'],
    ['{"a":"b', 'it ends too early, at line 1, column 8'],
    ['[1 2]', 'unexpected "2" at line 1, column 4'],
    ['{a:1}', 'unexpected "a" at line 1, column 2'],
    ['{"a":\n  01}', 'unexpected "1" at line 2, column 4'],
    ['{"a":1}}', 'unexpected "}" at line 1, column 8'],
    ['["\\x"]', 'unexpected "\\" at line 1, column 3'],
    ['["a\nb"]', 'unexpected character at line 1, column 4'],
  ])('is reported for %j with its place', (text, said) => {
    expect(() => JSON.parse(text) as unknown).toThrow();
    expect(jsonFault(text)).toBe(said);
  });

  it('never shows more than one character of the text', () => {
    expect(jsonFault('{"key":"sk-canary" "more"}')).not.toContain('canary');
  });

  it('takes all JSON for JSON: the place is its end', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value, null, 1);
        expect(jsonFault(text)).toContain('it ends too early');
      }),
    );
  });

  it('finds a character where none is allowed', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), (values) => {
        const text = `${JSON.stringify(values).slice(0, -1)}@]`;
        expect(jsonFault(text)).toBe(`unexpected "@" at line 1, column ${text.length - 1}`);
      }),
    );
  });

  it('reads a million brackets without running out of stack', () => {
    expect(jsonFault('['.repeat(1_000_000))).toBe('it ends too early, at line 1, column 1000001');
  });

  it('is not looked for in a long text, which would hold up the process', () => {
    expect(jsonFault('['.repeat(2_000_000))).toBe('it cannot be parsed');
  });
});
