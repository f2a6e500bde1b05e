import { randomBytes } from 'node:crypto';
import { bytesToBase62 } from './base62.js';

const LONGEST = 48;
const SUFFIX_BYTES = 4;
const SUFFIX_WIDTH = 6;

/** "OpenAI (Production)" becomes `openai-production`; a name without a character that is valid in a slug becomes `otherwise`. */
export function slugOfName(name: string, otherwise: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST)
    .replace(/^-|-$/g, '');
  return words === '' ? otherwise : words;
}

/** The slug with a unique suffix, for names that were taken. */
export function withSuffix(slug: string): string {
  return `${slug}-${bytesToBase62(randomBytes(SUFFIX_BYTES), SUFFIX_WIDTH).toLowerCase()}`;
}
