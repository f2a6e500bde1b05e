/**
 * The signatures that signed tokens may have (https://www.rfc-editor.org/rfc/rfc7518#section-3.1,
 * https://www.rfc-editor.org/rfc/rfc8037#section-3.1). Asymmetric ones only: a key that can verify a symmetric signature can also create
 * one. RSA keys need 2,048 bits, which `jose` checks.
 */
export const SIGNATURE_ALGORITHMS = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA'] as const),
] as const;

export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];
