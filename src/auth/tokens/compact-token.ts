/**
 * Parses the compact form of a signed token (https://www.rfc-editor.org/rfc/rfc7515#section-7.1) and checks everything that needs no key.
 * Strict: ambiguous input is refused.
 */

import { duplicateMember } from '../../common/json/duplicate-members.js';

export type Claims = Readonly<Record<string, unknown>>;

/** A well-formed token. None of its content can be trusted before its signature was verified. */
export interface UnverifiedToken {
  readonly algorithm: string;
  readonly keyId: string | null;
  /** The header's `typ` in lower case, without `application/`; null without one. */
  readonly type: string | null;
  readonly claims: Claims;
  /** The whole token. */
  readonly text: string;
}

const LONGEST_TOKEN = 16_384;
const COMPACT_TOKEN = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const KEY_ID = /^[\w.\-=+/:]{1,128}$/;

/**
 * Header parameters that invalidate a token. Keys and their URLs inside it are the sender's own claims, and the others change how it is to
 * be read: https://www.rfc-editor.org/rfc/rfc8725#section-3.10
 */
const REFUSED_PARAMETERS = ['jku', 'jwk', 'x5u', 'x5c', 'crit', 'b64', 'zip', 'enc'] as const;

/** Whether a text has the form of a signed token. Inspects only the text. */
export function looksLikeToken(text: string): boolean {
  return text.startsWith('ey') && text.length <= LONGEST_TOKEN && COMPACT_TOKEN.test(text);
}

/** The token, or null for anything else. */
export function readToken(text: string): UnverifiedToken | null {
  if (!looksLikeToken(text)) return null;
  const [head = '', body = '', ending = ''] = text.split('.');
  const header = objectIn(head);
  const claims = objectIn(body);
  if (!header || !claims || !bytesIn(ending) || !isAcceptable(header)) return null;
  return { ...namesIn(header), claims, text };
}

/** A token's unverified claims, to find out whose it might be; null if it is not a token. */
export function unverifiedClaims(text: string): Claims | null {
  return looksLikeToken(text) ? objectIn(text.split('.')[1] ?? '') : null;
}

function namesIn({ alg, kid, typ }: Claims): Pick<UnverifiedToken, 'algorithm' | 'keyId' | 'type'> {
  return {
    algorithm: String(alg),
    keyId: typeof kid === 'string' ? kid : null,
    type: typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : null,
  };
}

function isAcceptable(header: Claims): boolean {
  const { alg, kid, typ } = header;
  return (
    REFUSED_PARAMETERS.every((name) => !Object.hasOwn(header, name)) &&
    typeof alg === 'string' &&
    (kid === undefined || (typeof kid === 'string' && KEY_ID.test(kid))) &&
    (typ === undefined || typeof typ === 'string')
  );
}

/** Accepts only the canonical encoding: padding, blanks and stray trailing bits are refused. */
function bytesIn(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

function objectIn(text: string): Claims | null {
  const bytes = bytesIn(text);
  if (!bytes) return null;
  try {
    const json = bytes.toString('utf8');
    const value: unknown = JSON.parse(json);
    // Parsers differ in which of two equal members they use. https://www.rfc-editor.org/rfc/rfc7519#section-4
    if (duplicateMember(json) !== null) return null;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : null;
  } catch {
    return null;
  }
}
