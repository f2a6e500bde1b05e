import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../endpoint.js';
import { stringify } from '../endpoints/reading.js';

/** Why a provider does not support a parameter of the hub. */
export interface Impossible {
  readonly detail: string;
  /** JSON of the values that have no effect. Null never has one. */
  readonly harmless: readonly string[];
}

export const because = (detail: string, ...harmless: string[]): Impossible => ({ detail, harmless });

/** Throws `parameter_unsupported` for the first parameter with an unsupported value. */
export function refuseImpossible(hub: Json, impossible: ReadonlyMap<string, Impossible>): void {
  // A request has few parameters, and the table many.
  for (const parameter in hub) {
    const found = impossible.get(parameter);
    if (!found) continue;
    const value = hub[parameter] ?? null;
    if (value !== null && !found.harmless.includes(stringify(value)))
      throw unsupportedParameter(parameter, found.detail);
  }
}

/** The error for one parameter, or for a path in one: `messages[].content[].image_url`. */
export const unsupportedParameter = (parameter: string, detail: string): AppError =>
  new AppError('parameter_unsupported', { parameter, detail });

/** The error for a request that the hub's own format does not allow. */
export const invalidRequest = (detail: string): AppError => new AppError('invalid_request', { detail });

/** For features of the hub that a provider lacks. Always throws. */
export function refuseParameter(parameter: string, detail: string): never {
  throw unsupportedParameter(parameter, detail);
}
