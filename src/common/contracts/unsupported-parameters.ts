/**
 * What happens to a request that names a parameter which its provider does not have: `refuse` answers 400
 * `parameter_unsupported`; `drop` sends the request without the parameter, where `src/providers/unsupported-parameters.ts`
 * lists it.
 */
export const UNSUPPORTED_PARAMETER_RULES = ['refuse', 'drop'] as const;

export type UnsupportedParameterRule = (typeof UNSUPPORTED_PARAMETER_RULES)[number];
