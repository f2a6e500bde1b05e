/** Request and response headers that carry credentials, lower case: their values stand in no log. */
export const CREDENTIAL_HEADERS = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-gateway-api-key',
  'x-portkey-api-key',
  // Clients in browsers have no other place for a key: `openai-insecure-api-key.<key>`.
  'sec-websocket-protocol',
] as const;
