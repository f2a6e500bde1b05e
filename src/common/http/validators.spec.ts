import { validateSync } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { IsName } from './validators.js';

class NamedDto {
  @IsName() readonly name: unknown;

  constructor(name: unknown) {
    this.name = name;
  }
}

const isAccepted = (name: unknown): boolean => validateSync(new NamedDto(name)).length === 0;
const from = (...points: number[]): string => String.fromCodePoint(...points);

describe('a name', () => {
  it.each(['A', 'Zürich 東京 ❤️', 'ملف', `a${from(0x200d)}b`, 'x'.repeat(120)])('may be %s', (name) => {
    expect(isAccepted(name)).toBe(true);
  });

  it.each([
    ['empty', ''],
    ['of spaces', ' \u00a0\u3000'],
    ['a zero-width space', from(0x200b)],
    ['of joiners and fillers', from(0x200d, 0x2060, 0x3164, 0xfe0f, 0x2800)],
    ['with a right-to-left override', `invoice${from(0x202e)}fdp.exe`],
    ['with an isolate', `a${from(0x2066)}b`],
    ['with a line break', 'a\nb'],
    ['with a line separator', `a${from(0x2028)}b`],
    ['with a lone surrogate', 'a\ud800'],
    ['too long', 'x'.repeat(121)],
    ['no text', 7],
  ])('is refused when it is %s', (_, name) => {
    expect(isAccepted(name)).toBe(false);
  });
});
