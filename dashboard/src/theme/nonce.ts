import { setNonce } from 'get-nonce';

/** The nonce of this page, created by the server, for styles that libraries insert. Undefined in development. */
export function readNonce(): string | undefined {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
  if (nonce) setNonce(nonce);
  return nonce;
}
