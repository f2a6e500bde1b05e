import type { Detector } from './scanner.js';

const WORD = /[\w-]/;
const LETTERS = /[A-Za-z0-9]/;
const BASE64 = /[A-Za-z0-9+/=\r\n-]/;

/**
 * Credentials, by the formats that their issuers chose to make them detectable:
 * https://docs.github.com/en/code-security/secret-scanning/introduction/supported-secret-scanning-patterns
 */
export const SECRET_DETECTORS: readonly Detector[] = [
  {
    kind: 'PRIVATE_KEY',
    pattern: /-----BEGIN (?:[A-Z0-9]{1,16} ){0,2}PRIVATE KEY(?: BLOCK)?-----/g,
    charsMax: 80,
    alphabet: /[A-Z0-9 -]/,
    tail: BASE64,
  },
  {
    kind: 'AWS_ACCESS_KEY',
    pattern: /(?<![A-Za-z0-9])A(?:KIA|SIA)[A-Z2-7]{16}(?![A-Za-z0-9])/g,
    charsMax: 21,
    alphabet: /[A-Z0-9]/,
  },
  {
    kind: 'GITHUB_TOKEN',
    pattern: /(?<!\w)(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{40})/g,
    charsMax: 51,
    alphabet: /\w/,
    tail: /\w/,
  },
  {
    kind: 'SLACK_TOKEN',
    pattern: /(?<!\w)xox[abeprs]-[A-Za-z0-9-]{10}/g,
    charsMax: 15,
    alphabet: WORD,
    tail: WORD,
  },
  { kind: 'GOOGLE_API_KEY', pattern: /(?<!\w)AIza[\w-]{35}(?![\w-])/g, charsMax: 40, alphabet: WORD },
  {
    kind: 'STRIPE_KEY',
    pattern: /(?<!\w)[rs]k_(?:live|test)_[A-Za-z0-9]{16}/g,
    charsMax: 24,
    alphabet: /\w/,
    tail: LETTERS,
  },
  { kind: 'API_KEY', pattern: /(?<![\w-])sk-[\w-]{20}/g, charsMax: 23, alphabet: WORD, tail: WORD },
  {
    kind: 'GATEWAY_KEY',
    pattern: /(?<![\w-])gw_[a-z]{1,12}_[A-Za-z0-9]{40}/g,
    charsMax: 56,
    alphabet: /\w/,
    tail: LETTERS,
  },
  {
    kind: 'JWT',
    pattern: /(?<![\w-])eyJ[\w-]{8,200}\.eyJ[\w-]{8}/g,
    charsMax: 216,
    alphabet: /[\w.-]/,
    tail: /[\w.-]/,
  },
];
