import { describe, expect, it } from 'vitest';
import { filteredTexts } from './filtered-texts.js';
import { personalData } from './personal-data.js';
import { SECRET_DETECTORS } from './secrets.js';
import type { DetectedValue } from './scanner.js';

const detectors = [...personalData(['EMAIL_ADDRESS', 'CREDIT_CARD', 'PHONE_NUMBER']), ...SECRET_DETECTORS];
const replace = ({ detector }: DetectedValue): string => `{{${detector.kind}}}`;

const filtered = async (texts: readonly string[], redacts = true) => {
  const found: string[] = [];
  const note = (value: DetectedValue): string => {
    found.push(value.value);
    return redacts ? replace(value) : value.value;
  };
  const runs = [{ positions: texts.map((_, index) => index), joined: [] }];
  return { texts: await filteredTexts({ texts, runs }, { detectors, replace: note, redacts }), found };
};

describe('the texts of a run', () => {
  it.each<[string, string[], string[]]>([
    ['over two parts', ['at joe@exam', 'ple.com.'], ['at {{EMAIL_ADDRESS}}', '.']],
    ['over an empty part', ['joe@', '', 'example.com'], ['{{EMAIL_ADDRESS}}', '', '']],
    [
      'one behind the other',
      ['joe@a.', 'com, jane@b', '.com'],
      ['{{EMAIL_ADDRESS}}', ', {{EMAIL_ADDRESS}}', ''],
    ],
    ['over a whole part', ['4111 11', '11 1111', ' 1111!'], ['{{CREDIT_CARD}}', '', '!']],
    ['whole, before another text', ['jane@example.com', 'Thanks'], ['{{EMAIL_ADDRESS}}', 'Thanks']],
    ['with a tail', [`sk-${'a'.repeat(30)}`, `${'b'.repeat(30)} now`], ['{{API_KEY}}', ' now']],
    ['nothing', ['joe@', 'home'], ['joe@', 'home']],
  ])('lose what is found %s', async (_, texts, expected) => {
    expect((await filtered(texts)).texts).toEqual(expected);
  });

  it('report each finding once where they are not redacted', async () => {
    const { texts, found } = await filtered(['joe@exam', 'ple.com, jane@example.com', 'Hi'], false);
    expect(found).toEqual(['joe@example.com', 'jane@example.com']);
    expect(texts).toEqual(['joe@exam', 'ple.com, jane@example.com', 'Hi']);
  });

  it('are the same where they are cut anywhere', async () => {
    const whole = `${'word '.repeat(8_000)}joe@example.com ${'word '.repeat(8_000)}4111 1111 1111 1111.`;
    const expected = whole
      .replace('joe@example.com', '{{EMAIL_ADDRESS}}')
      .replace(/4111.*1111/, '{{CREDIT_CARD}}');
    for (const at of [40_000, 40_004, 40_012, whole.length - 10])
      expect((await filtered([whole.slice(0, at), whole.slice(at)])).texts.join('')).toBe(expected);
  });

  it('let other requests in between, however many they are', async () => {
    const texts = Array.from({ length: 50_000 }, () => 'a short text');
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    await filteredTexts({ texts, runs: [] }, { detectors, replace, redacts: true });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(10);
  });
});
