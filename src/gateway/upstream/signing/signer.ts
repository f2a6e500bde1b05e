import type { Target } from '../../types/target.js';
import type { WireRequest } from '../wire.js';

/**
 * Computes credentials that are more than a header. A caller's own credential (the target has no key) is left alone. Throws or rejects with
 * `credential_unusable` when the stored credential is malformed or its issuer refuses it, and with `upstream_error` when the token service
 * cannot be reached.
 */
export interface Signer {
  sign(request: WireRequest, target: Target): WireRequest | Promise<WireRequest>;
}

/** The request with these headers in place of those with the same names. `headers`: lower-case names and values in turn. */
export function withHeaders(request: WireRequest, headers: readonly string[]): WireRequest {
  const replaced = new Set(headers.filter((_, index) => index % 2 === 0));
  const kept: string[] = [];
  for (let index = 0; index < request.headers.length; index += 2) {
    const name = request.headers[index] as string;
    if (!replaced.has(name.toLowerCase())) kept.push(name, request.headers[index + 1] as string);
  }
  return { ...request, headers: [...kept, ...headers] };
}

export function withBearer(request: WireRequest, token: string): WireRequest {
  return withHeaders(request, ['authorization', `Bearer ${token}`]);
}
