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

/** The credential of a request, with what its headers show beside it. */
export interface PresentedCredential {
  /** The gateway key or signed token; null without one. */
  readonly secret: string | null;
  /** The secret is a signed token. */
  readonly isToken: boolean;
  /** Another gateway key was sent, beside the secret or in the same header. */
  readonly hasOtherKey: boolean;
  /** A token sent beside a gateway key: ours, or the provider's. */
  readonly tokenBeside: string | null;
  /** The gateway key header that contains a provider's key, judging by its format. */
  readonly misplacedIn: string | null;
}

const NO_CREDENTIAL: PresentedCredential = {
  secret: null,
  isToken: false,
  hasOtherKey: false,
  tokenBeside: null,
  misplacedIn: null,
};

/** Reads the credential of a request from its headers. */
export function readCredential(headers: IncomingHttpHeaders): PresentedCredential {
  const secret = secretIn(headers);
  if (secret === null) return NO_CREDENTIAL;
  const isToken = looksLikeToken(secret);
  return {
    secret,
    isToken,
    hasOtherKey: hasKeyBeside(secret, headers) || (!isToken && hasSeveralKeys(secret)),
    tokenBeside: isToken ? null : tokenBeside(secret, headers),
    misplacedIn: misplacedKey(headers),
  };
}

/**
 * The gateway key or signed token, or null.
 *
 * `Authorization`, `x-api-key`, `x-goog-api-key` and `api-key` are read only without a gateway key header, so that SDKs which can set
 * nothing but their API key work; otherwise they belong to the provider.
 */
function secretIn(headers: IncomingHttpHeaders): string | null {
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

const misplacedKey = (headers: IncomingHttpHeaders): string | null =>
  KEY_HEADERS.find((name) => PROVIDER_KEY.test(String(headers[name] ?? ''))) ?? null;

function hasKeyBeside(secret: string, headers: IncomingHttpHeaders): boolean {
  return CREDENTIAL_HEADERS.some((name) => {
    const value = headers[name];
    if (typeof value !== 'string' || value === secret) return false;
    const text = value.replace(BEARER, '');
    return text !== secret && looksLikeGatewayKey(text);
  });
}

/** Whether one header was sent with different gateway keys, which Node joins by commas. */
function hasSeveralKeys(secret: string): boolean {
  if (!secret.includes(',')) return false;
  const keys = secret.split(',').map((key) => key.trim());
  return new Set(keys.filter(looksLikeGatewayKey)).size > 1;
}

/**
 * Adds a gateway key that was sent elsewhere than in a header. Beside a credential in a header it counts as a second one, so that a request
 * with different ones is refused as ambiguous.
 */
export function enterKey(headers: IncomingHttpHeaders, key: string): void {
  if (secretIn(headers) === key) return;
  const free = CREDENTIAL_HEADERS.find((name) => headers[name] === undefined);
  if (free !== undefined) headers[free] = key;
}

function tokenBeside(key: string, headers: IncomingHttpHeaders): string | null {
  const bearer = headers.authorization === undefined ? null : bearerOf(headers);
  if (bearer !== null && bearer !== key && looksLikeToken(bearer)) return bearer;
  const compatible = headers[KEY_HEADERS[1]];
  return typeof compatible === 'string' && compatible !== key && looksLikeToken(compatible)
    ? compatible
    : null;
}

/** Whether a bearer is for the gateway, so that it must not reach a provider. */
export function isGatewayCredential(bearer: string, headers: IncomingHttpHeaders): boolean {
  return looksLikeGatewayKey(bearer) || bearer === secretIn(headers);
}

/** The token in `Authorization`, with or without `Bearer`: the compatible SDK sends both forms. */
export function bearerOf(headers: IncomingHttpHeaders): string | null {
  return headers.authorization?.replace(BEARER, '') ?? null;
}
