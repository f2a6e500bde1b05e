/**
 * What happens to a request with a parameter that its provider does not support: `refuse` returns 400 `parameter_unsupported`; `drop` sends
 * the request without the parameter, if `src/providers/unsupported-parameters.ts` lists it.
 */
export const UNSUPPORTED_PARAMETER_RULES = ['refuse', 'drop'] as const;

export type UnsupportedParameterRule = (typeof UNSUPPORTED_PARAMETER_RULES)[number];
