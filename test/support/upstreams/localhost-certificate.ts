/**
 * A certificate for `localhost` and 127.0.0.1, signed by itself, and its key. For receivers in tests; nothing else trusts it.
 * Made with `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 36500`.
 */
export const LOCALHOST_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUUX7dyLTbyBwsYAce0KwBV8XbJNYwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTE4MjY1MloYDzIxMjYxMDI4
MTgyNjUyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARm8wDgNlso7hx3R4/Q7uqiKl9Zzx9yPzEmcSKUe3lzom2tj82HL2ai
CGDM2D6ywVTBBn1kXW15jyb5hxImlIbto28wbTAdBgNVHQ4EFgQU2TGu+Ljjf44p
a/oSS2cGcCivMqIwHwYDVR0jBBgwFoAU2TGu+Ljjf44pa/oSS2cGcCivMqIwGgYD
VR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZI
zj0EAwIDSAAwRQIhAJpG6iQMIw/fgxN+GwN+0UVNbEaP3jeAFsTnDWPjNTVAAiA8
bc8qeDgs9tMPzkY+zafgQI0WovbKdVy02OuCwcx0ZA==
-----END CERTIFICATE-----
`;

export const LOCALHOST_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgyMbYqEtTv3lEqtV6
15fpQCmo3QnvrEynrR/hkK85U/2hRANCAARm8wDgNlso7hx3R4/Q7uqiKl9Zzx9y
PzEmcSKUe3lzom2tj82HL2aiCGDM2D6ywVTBBn1kXW15jyb5hxImlIbt
-----END PRIVATE KEY-----
`;
