/**
 * What happens to an attempt when its client disconnects: `cancel` ends it and charges what arrived, as an estimate; `finish` reads its
 * response to the end and charges what the provider reports.
 */
export const CLIENT_DISCONNECT_RULES = ['cancel', 'finish'] as const;

export type ClientDisconnectRule = (typeof CLIENT_DISCONNECT_RULES)[number];

/**
 * What happens to a request with a parameter that its provider does not support: `refuse` returns 400 `parameter_unsupported`; `drop` sends
 * the request without the parameter, if `src/providers/unsupported-parameters.ts` lists it.
 */
export const UNSUPPORTED_PARAMETER_RULES = ['refuse', 'drop'] as const;

export type UnsupportedParameterRule = (typeof UNSUPPORTED_PARAMETER_RULES)[number];
