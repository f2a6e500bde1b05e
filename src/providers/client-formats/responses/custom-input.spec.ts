import { describe, expect, it } from 'vitest';
import { argumentsOfInput, CustomInput } from './custom-input.js';

function read(pieces: readonly string[]): { deltas: readonly string[]; value: string } {
  const input = new CustomInput();
  const deltas = [...pieces.map((piece) => input.add(piece)), input.end()];
  return { deltas, value: input.value };
}

const TEXT = '*** Begin Patch\n+"é" \\ \u0001 😀\t/\n*** End Patch';

describe('the input of a custom tool', () => {
  it.each([
    ['plain', argumentsOfInput(TEXT)],
    ['with spaces', `{ "input" : ${JSON.stringify(TEXT)} }`],
    [
      'in escapes',
      argumentsOfInput(TEXT).replace(
        /[^\x20-\x7e]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
    ],
  ])('is the same wherever its arguments are cut, %s', (_, written) => {
    for (let at = 0; at <= written.length; at++) {
      const { deltas, value } = read([written.slice(0, at), written.slice(at)]);
      expect([value, deltas.join('')]).toEqual([TEXT, TEXT]);
    }
    const units = Array.from({ length: written.length }, (_unit, at) => written.charAt(at));
    expect(read(units).value).toBe(TEXT);
  });

  it.each([
    ['no JSON', 'ls -la', 'ls -la'],
    ['an object of another form', '{"patch":"x"}', '{"patch":"x"}'],
    ['another field before it', '{"a":1,"input":"x"}', 'x'],
    ['nothing', '', ''],
    ['an input that breaks off', '{"input":"abc\\', 'abc'],
  ])('is read from %s', (_, written, text) => {
    const { deltas, value } = read([written]);
    expect([value, deltas.join('')]).toEqual([text, text]);
  });
});
