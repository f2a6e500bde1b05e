import type { IncomingHttpHeaders } from 'node:http';
import { looksLikeGatewayKey } from '../../common/crypto/api-key-format.js';
import { looksLikeToken } from '../tokens/compact-token.js';

/** The headers of the gateway key; the first one present counts. */
const KEY_HEADERS = ['x-gateway-api-key', 'x-portkey-api-key'] as const;

/** The key headers of the SDKs of Anthropic, Google and Azure. */
const SDK_KEY_HEADERS = ['x-api-key', 'x-goog-api-key', 'api-key'] as const;

/** Every header that may carry a gateway key. */
const CREDENTIAL_HEADERS = [...KEY_HEADERS, 'authorization', ...SDK_KEY_HEADERS] as const;

const BEARER = /^bearer +/i;

/**
 * The gateway key or signed token that a request presents, or null.
 *
 * `Authorization`, `x-api-key`, `x-goog-api-key` and `api-key` are read only without a gateway key header, so that SDKs which can set
 * nothing but their API key work; otherwise they belong to the provider.
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

/** Prefixes of keys of widely used providers. */
const PROVIDER_KEY = /^(?:sk-|sk_|xai-|gsk_|pplx-|AIza|hf_|r8_|nvapi-|fw_|csk-|AKIA)/;

/** The gateway key header that contains a provider's key, judging by its format, or null. */
export const misplacedKey = (headers: IncomingHttpHeaders): string | null =>
  KEY_HEADERS.find((name) => PROVIDER_KEY.test(String(headers[name] ?? ''))) ?? null;

/** Another gateway key than the presented credential, in any header; null without one. */
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
 * Adds a gateway key that was sent elsewhere than in a header. Beside a credential in a header it counts as a second one, so that a request
 * with different ones is refused as ambiguous.
 */
export function enterKey(headers: IncomingHttpHeaders, key: string): void {
  if (presentedKey(headers) === key) return;
  const free = CREDENTIAL_HEADERS.find((name) => headers[name] === undefined);
  if (free !== undefined) headers[free] = key;
}

/** A token sent beside the presented gateway key: ours, or the provider's. */
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

/** The token in `Authorization`, with or without `Bearer`: the compatible SDK sends both forms. */
export function bearerOf(headers: IncomingHttpHeaders): string | null {
  return headers.authorization?.replace(BEARER, '') ?? null;
}
