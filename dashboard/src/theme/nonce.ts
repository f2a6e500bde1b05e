import { setNonce } from 'get-nonce';

/** The nonce of this page, which the server made: styles that libraries insert must name it. Undefined in development. */
export function readNonce(): string | undefined {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
  if (nonce) setNonce(nonce);
  return nonce;
}
