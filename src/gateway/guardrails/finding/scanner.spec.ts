import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PII_CATEGORIES } from '../../../routing-config/guardrails/check-parameters.js';
import { personalData } from './personal-data.js';
import { Placeholders } from '../placeholders.js';
import { Scanner } from './scanner.js';
import { SECRET_DETECTORS } from './secrets.js';

const EVERYTHING = [...personalData(PII_CATEGORIES), ...SECRET_DETECTORS];

function redact(pieces: readonly string[], detectors = EVERYTHING): string {
  const placeholders = new Placeholders();
  const scanner = new Scanner(detectors, ({ detector: { kind }, value }) =>
    placeholders.of(kind, value, false),
  );
  return pieces.map((piece) => scanner.feed(piece)).join('') + scanner.end();
}

const cut = (text: string, cuts: readonly number[]): string[] => {
  const ends = [...cuts.map((at) => at % (text.length + 1)), text.length].sort((one, other) => one - other);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
};

/** Texts made of matches, near matches, and words between them. */
const PIECES = [
  ...[
    'jane.doe@example.com',
    'a@b',
    '@',
    '+49 30 901820',
    '(555) 123-4567',
    '030/1234567',
    '4111 1111 1111 1111',
  ],
  ...[
    '4111-1111-1111-1112',
    '378282246310005',
    'DE89 3704 0044 0532 0130 00',
    'GB82WEST12345698765432',
    'DE00 1234',
  ],
  ...[
    '192.168.1.17',
    '1.2.3',
    '2001:db8::ff00:42:8329',
    '12:30:45',
    '078-05-1120',
    'QQ123456C',
    '12345678Z',
    'X1234567L',
  ],
  ...['529.982.247-25', '1 84 12 76 451 089 46', 'sk-abcdefghijklmnopqrstuvwxyz', 'AKIAIOSFODNN7EXAMPLE'],
  ...[
    'ghp_0123456789abcdefghijABCDEFGHIJ012345',
    '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc=\n-----END RSA PRIVATE KEY-----',
  ],
  ...[
    ' ',
    '  ',
    '\n',
    '. ',
    ', ',
    'call ',
    'a',
    '1',
    '12',
    '-',
    '.',
    ':',
    '+',
    '(',
    '\ud83d\ude00',
    'É',
    'word',
  ],
];
const texts = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((pieces) => pieces.join(''));

describe('Scanner', () => {
  it('finds in a text cut anywhere what it finds in the whole', () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(), { maxLength: 12 }), (text, cuts) => {
        expect(redact(cut(text, cuts))).toBe(redact([text]));
      }),
      { numRuns: 3_000 },
    );
  });

  it('finds letter by letter what it finds in the whole', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(redact(text.split(''))).toBe(redact([text]));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['write to jane.doe+x@mail.example.com.', 'write to {{EMAIL_ADDRESS_1}}.'],
    [
      'a@b.de and c@d.fr, again a@b.de',
      '{{EMAIL_ADDRESS_1}} and {{EMAIL_ADDRESS_2}}, again {{EMAIL_ADDRESS_1}}',
    ],
    ['card 4111 1111 1111 1111, thanks', 'card {{CREDIT_CARD_1}}, thanks'],
    ['card 4111 1111 1111 1112, thanks', 'card 4111 1111 1111 1112, thanks'],
    ['order 1234 4111 1111 1111 1111 22', 'order 1234 {{CREDIT_CARD_1}} 22'],
    ['IBAN DE89 3704 0044 0532 0130 00 IS MINE', 'IBAN {{IBAN_1}} IS MINE'],
    ['IBAN DE88 3704 8844 8532 8130 80', 'IBAN DE88 3704 8844 8532 8130 80'],
    ['ring +49 (30) 901820 or (555) 123-4567.', 'ring {{PHONE_NUMBER_1}} or {{PHONE_NUMBER_2}}.'],
    ['on 2024-01-15 10:30 at 12:30:45', 'on 2024-01-15 10:30 at 12:30:45'],
    ['in 2023 2024 2025 we had 1234567 items', 'in 2023 2024 2025 we had 1234567 items'],
    [
      'host 10.0.0.1, version 1.2.3.4.5 and std::string',
      'host {{IP_ADDRESS_1}}, version 1.2.3.4.5 and std::string',
    ],
    ['at 2001:db8::ff00:42:8329', 'at {{IP_ADDRESS_1}}'],
    ['SSN 078-05-1120, not 000-05-1120', 'SSN {{SSN_1}}, not 000-05-1120'],
    [
      'DNI 12345678Z, not 12345678A; CPF 529.982.247-25',
      'DNI {{NATIONAL_ID_1}}, not 12345678A; CPF {{NATIONAL_ID_2}}',
    ],
    ['NINO QQ 12 34 56 C? AB 12 34 56 C!', 'NINO QQ 12 34 56 C? {{NATIONAL_ID_1}}!'],
    ['key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789 end', 'key {{API_KEY_1}} end'],
  ])('reads %j as %j', (text, expected) => {
    expect(redact([text])).toBe(expected);
  });

  it('lets nothing of a private key out, however long it is', () => {
    const key = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEpAIBAAKCAQEA\n'.repeat(200)}-----END RSA PRIVATE KEY-----`;

    const out = redact(cut(`here: ${key} done`, [3, 40, 90, 1_000, 2_500]));

    expect(out).not.toContain('MIIE');
    expect(out.startsWith('here: {{PRIVATE_KEY_1}}')).toBe(true);
    expect(out.endsWith(' done')).toBe(true);
  });

  it('holds back no more than a word of prose', () => {
    const scanner = new Scanner(EVERYTHING, () => '');
    const out = scanner.feed('This is what the model says about the weather in Paris, and it goes on');

    expect(out).toBe('This is what the model says about the weather in Paris, and it goes ');
  });

  it.each([
    ['letters', 'a'.repeat(5_000_000)],
    ['digits', '1'.repeat(5_000_000)],
    ['spaced digits', '1 '.repeat(2_500_000)],
    ['dots and at signs', 'a.@'.repeat(1_600_000)],
    ['colons', 'a:'.repeat(2_500_000)],
    ['prefixes', 'sk-eyJ.'.repeat(700_000)],
    ['capitals', 'DE12 '.repeat(1_000_000)],
  ])(
    'gets through 5 MB of %s',
    (_, text) => {
      expect(redact([text]).length).toBeGreaterThan(0);
    },
    20_000,
  );
});
