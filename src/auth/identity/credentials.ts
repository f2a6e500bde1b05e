import type { IncomingHttpHeaders } from 'node:http';
import { looksLikeGatewayKey } from '../../common/crypto/api-key-format.js';
import { looksLikeToken } from '../tokens/compact-token.js';

/** Where clients put the gateway key; the first that is there counts. */
const KEY_HEADERS = ['x-gateway-api-key', 'x-portkey-api-key'] as const;

/** Where the SDKs of Anthropic, Google and Azure put their only key. */
const SDK_KEY_HEADERS = ['x-api-key', 'x-goog-api-key', 'api-key'] as const;

/** Every header that may carry a gateway key. */
const CREDENTIAL_HEADERS = [...KEY_HEADERS, 'authorization', ...SDK_KEY_HEADERS] as const;

const BEARER = /^bearer +/i;

/**
 * The gateway key or signed token that a request presents, or null.
 *
 * `Authorization`, `x-api-key`, `x-goog-api-key` and `api-key` are looked at only when no key header is there, so that an SDK
 * which can set nothing but its API key works; otherwise they belong to the provider.
 */
export function presentedKey(headers: IncomingHttpHeaders): string | null {
  for (const name of KEY_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') return value;
  }
  const bearer = bearerOf(headers);
  if (bearer && looksLikeGatewayKey(bearer)) return bearer;
  for (const name of SDK_KEY_HEADERS) {
    const apiKey = headers[name];
    if (typeof apiKey === 'string' && looksLikeGatewayKey(apiKey)) return apiKey;
  }
  return bearer && looksLikeToken(bearer) ? bearer : null;
}

/** How keys of widely used providers begin. */
const PROVIDER_KEY = /^(?:sk-|sk_|xai-|gsk_|pplx-|AIza|hf_|r8_|nvapi-|fw_|csk-|AKIA)/;

/** The header for gateway keys that carries a provider's key by its form, or null. */
export const misplacedKey = (headers: IncomingHttpHeaders): string | null =>
  KEY_HEADERS.find((name) => PROVIDER_KEY.test(String(headers[name] ?? ''))) ?? null;

/** Another gateway key than the credential that a request presents, in any header; null where there is none. */
export function keyBeside(presented: string, headers: IncomingHttpHeaders): string | null {
  for (const name of CREDENTIAL_HEADERS) {
    const value = headers[name];
    if (typeof value !== 'string' || value === presented) continue;
    const text = value.replace(BEARER, '');
    if (text !== presented && looksLikeGatewayKey(text)) return text;
  }
  return null;
}

/** Whether one header was sent with different gateway keys, which Node joins by commas. */
export function hasSeveralKeys(presented: string): boolean {
  if (!presented.includes(',')) return false;
  const keys = presented.split(',').map((key) => key.trim());
  return new Set(keys.filter(looksLikeGatewayKey)).size > 1;
}

/**
 * Enters a gateway key that came in another place than a header. Beside a credential in a header it stays a second one, so that a request
 * with different ones is refused as ambiguous.
 */
export function enterKey(headers: IncomingHttpHeaders, key: string): void {
  if (presentedKey(headers) === key) return;
  const free = CREDENTIAL_HEADERS.find((name) => headers[name] === undefined);
  if (free !== undefined) headers[free] = key;
}

/** A token that stands beside the gateway key that a request presents: ours, or the provider's. */
export function tokenBeside(key: string, headers: IncomingHttpHeaders): string | null {
  const bearer = headers.authorization === undefined ? null : bearerOf(headers);
  if (bearer !== null && bearer !== key && looksLikeToken(bearer)) return bearer;
  const compatible = headers[KEY_HEADERS[1]];
  return typeof compatible === 'string' && compatible !== key && looksLikeToken(compatible)
    ? compatible
    : null;
}

/** Whether a bearer is for the gateway, so that it must not reach a provider. */
export function isGatewayCredential(bearer: string, headers: IncomingHttpHeaders): boolean {
  return looksLikeGatewayKey(bearer) || bearer === presentedKey(headers);
}

/** The token in `Authorization`, with or without `Bearer` before it: the compatible SDK sends both forms. */
export function bearerOf(headers: IncomingHttpHeaders): string | null {
  return headers.authorization?.replace(BEARER, '') ?? null;
}
