import ipaddr from 'ipaddr.js';
import type { PII_CATEGORIES } from '../../../routing-config/guardrails/check-parameters.js';
import { isCpf, isDni, isIban, isLuhn, isNir } from './check-digits.js';
import type { Detector } from './scanner.js';

export type PiiCategory = (typeof PII_CATEGORIES)[number];

const digitsOf = (text: string): string => text.replace(/\D/g, '');

/** Length of the longest prefix, cut between groups of digits, that `isReal`: the text after a number may look like more of it. */
function longestReal(match: string, isReal: (text: string) => boolean): number {
  for (let end = match.length; end > 0; end = groupBefore(match, end))
    if (isReal(match.slice(0, end))) return end;
  return 0;
}

function groupBefore(text: string, end: number): number {
  for (let at = end - 1; at > 0; at--) if (SEPARATORS.includes(text.charAt(at))) return at;
  return 0;
}

const SEPARATORS = ' .-';
const CARD_CHARS_MIN = 13;

/** Card numbers begin with 2 to 6: https://en.wikipedia.org/wiki/Payment_card_number */
function cardChars(match: string): number {
  const first = match.charCodeAt(0) - ZERO;
  return first >= 2 && first <= 6 ? longestReal(match, isCard) : 0;
}

const ZERO = 48;

function isCard(text: string): boolean {
  if (text.length < CARD_CHARS_MIN) return false;
  const digits = digitsOf(text);
  return digits.length >= 13 && digits.length <= 19 && isLuhn(digits);
}

/** The IBANs of a country all have the same length, so that the text after one is not taken for more of it. */
function ibanChars(match: string): number {
  const characters = IBAN_CHARS.get(match.slice(0, 2)) ?? 0;
  let end = 0;
  for (let count = 0; count < characters; end++) {
    if (end >= match.length) return 0;
    if (match.charAt(end) !== ' ') count++;
  }
  const isWhole = end === match.length || match.charAt(end) === ' ';
  return end > 0 && isWhole && isIban(match.slice(0, end).replaceAll(' ', '')) ? end : 0;
}

/** https://www.swift.com/standards/data-standards/iban-international-bank-account-number */
const IBAN_CHARS = new Map(
  Object.entries({
    15: 'NO',
    16: 'BE BI',
    18: 'DK FI FK FO GL NL SD',
    19: 'MK SI',
    20: 'AT BA EE KZ LT LU MN XK',
    21: 'CH CR HR LI LV',
    22: 'BG BH DE GB GE IE ME RS VA',
    23: 'AE GI IL IQ OM SO TL',
    24: 'AD CZ DZ ES MD PK RO SA SE SK TN VG',
    25: 'LY PT ST',
    26: 'IS TR',
    27: 'BF CM DJ FR GR IT MC MR MZ SM',
    28: 'AL AZ BJ BY CI CY DO GT HN HU LB NI PL SN SV',
    29: 'BR EG PS QA UA',
    30: 'JO KW MU YE',
    31: 'MT SC',
    32: 'LC',
    33: 'RU',
  }).flatMap(([characters, countries]) =>
    countries.split(' ').map((country) => [country, Number(characters)] as const),
  ),
);

const whole =
  (isReal: (match: string) => boolean) =>
  (match: string): number =>
    isReal(match) ? match.length : 0;

function isAddress6(match: string): boolean {
  return match.length > 4 && /[0-9a-f]/i.test(match) && ipaddr.IPv6.isValid(match);
}

type PiiDetector = Detector & { readonly kind: PiiCategory };

/** Spaces that text processors put between digits: no-break, figure, thin, narrow no-break, and ideographic. */
const SPACES = '\u00a0\u2007\u2009\u202f\u3000';
const ANY_SPACE = new RegExp(`[${SPACES}]`, 'g');

/** The detector with each space of its pattern standing for those spaces, too. */
function spaced(detector: PiiDetector): PiiDetector {
  const { pattern, alphabet, realChars } = detector;
  const widened = (source: string): string =>
    source.replace(/ (\??)/g, (_, mark: string) => (mark ? `[ ${SPACES}]?` : ` ${SPACES}`));
  return {
    ...detector,
    pattern: new RegExp(widened(pattern.source), pattern.flags),
    alphabet: new RegExp(widened(alphabet.source)),
    ...(realChars && { realChars: (match) => realChars(match.replace(ANY_SPACE, ' ')) }),
  };
}

/** Personal data with a fixed format. Names and postal addresses have none, and need a model. */
const PATTERNS: readonly PiiDetector[] = [
  {
    kind: 'EMAIL_ADDRESS',
    pattern:
      /(?<![\w.%+\u00c0-\u024f-])[\w.%+\u00c0-\u024f-]{1,64}[@\uff20\ufe6b][A-Za-z0-9\u00c0-\u024f.-]{1,190}\.[A-Za-z]{2,24}(?![\w-])/g,
    charsMax: 282,
    alphabet: /[\w.%+@\uff20\ufe6b\u00c0-\u024f-]/,
  },
  {
    kind: 'IBAN',
    pattern: /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])/g,
    charsMax: 65,
    alphabet: /[A-Z0-9 ]/,
    realChars: ibanChars,
  },
  {
    kind: 'CREDIT_CARD',
    pattern: /(?<![\d.])\d(?:[ -]?\d){12,18}(?!\d)/g,
    charsMax: 38,
    alphabet: /[\d -]/,
    realChars: cardChars,
  },
  {
    kind: 'SSN',
    pattern: /(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/g,
    charsMax: 12,
    alphabet: /[\d-]/,
  },
  {
    // United Kingdom: two letters, six digits, a letter.
    kind: 'NATIONAL_ID',
    pattern: /(?<![A-Za-z0-9])[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D](?![A-Za-z0-9])/g,
    charsMax: 14,
    alphabet: /[A-Z\d ]/,
  },
  {
    kind: 'NATIONAL_ID',
    pattern: /(?<![A-Za-z0-9])(?:\d{8}|[XYZ]\d{7})[A-Z](?![A-Za-z0-9])/g,
    charsMax: 10,
    alphabet: /[A-Z\d]/,
    realChars: whole(isDni),
  },
  {
    kind: 'NATIONAL_ID',
    pattern: /(?<![\d.-])\d{3}\.\d{3}\.\d{3}-\d{2}(?![\d-])/g,
    charsMax: 15,
    alphabet: /[\d.-]/,
    realChars: whole(isCpf),
  },
  {
    kind: 'NATIONAL_ID',
    pattern: /(?<!\d)[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?\d{2} ?\d{3} ?\d{3} ?\d{2}(?!\d)/g,
    charsMax: 22,
    alphabet: /[\d ]/,
    realChars: whole(isNir),
  },
  {
    kind: 'PHONE_NUMBER',
    pattern:
      /(?<![\w+.-])(?:\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}|0(?:0[1-9]\d{0,2}|[1-9]\d{0,3})[ /.-]\d{2,8}(?:[ .-]\d{2,8}){0,3})(?![\w-])/g,
    charsMax: 48,
    alphabet: /[\d+(). /-]/,
    realChars: (match) =>
      longestReal(match, (text) => {
        const { length } = digitsOf(text);
        return text.startsWith('+') ? length >= 8 && length <= 15 : length >= 9 && length <= 12;
      }),
  },
  {
    kind: 'IP_ADDRESS',
    pattern: /(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?!\w|\.\d)/g,
    charsMax: 17,
    alphabet: /[\d.]/,
  },
  {
    kind: 'IP_ADDRESS',
    pattern: /(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])/g,
    charsMax: 41,
    alphabet: /[0-9A-Fa-f:]/,
    realChars: whole(isAddress6),
  },
];

const DETECTORS = PATTERNS.map(spaced);

export function personalData(categories: readonly PiiCategory[]): readonly Detector[] {
  return DETECTORS.filter(({ kind }) => categories.includes(kind));
}
