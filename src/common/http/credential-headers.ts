/** Request and response headers that contain credentials, lower case: their values are never logged. */
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
  // Clients in browsers have no other way to send a key: `openai-insecure-api-key.<key>`.
  'sec-websocket-protocol',
] as const;
