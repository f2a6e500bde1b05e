import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../endpoint.js';
import { stringify } from '../endpoints/reading.js';

/** Why a parameter of the hub cannot be said to a provider. */
export interface Impossible {
  readonly detail: string;
  /** JSON of the values that ask for nothing. Null always does. */
  readonly harmless: readonly string[];
}

export const because = (detail: string, ...harmless: string[]): Impossible => ({ detail, harmless });

/** Throws `parameter_unsupported` for the first parameter that asks for what is impossible. */
export function refuseImpossible(hub: Json, impossible: ReadonlyMap<string, Impossible>): void {
  // A request has few parameters, and the table many.
  for (const parameter in hub) {
    const found = impossible.get(parameter);
    if (!found) continue;
    const value = hub[parameter] ?? null;
    if (value !== null && !found.harmless.includes(stringify(value)))
      throw unsupported(parameter, found.detail);
  }
}

/** The refusal of one parameter, or of a place in one: `messages[].content[].image_url`. */
export const unsupported = (parameter: string, detail: string): AppError =>
  new AppError('parameter_unsupported', { parameter, detail });

/** The refusal of a request that the hub's own shape does not allow. */
export const invalid = (detail: string): AppError => new AppError('invalid_request', { detail });

/** What the hub knows and a provider cannot do. Always throws. */
export function refuse(parameter: string, detail: string): never {
  throw unsupported(parameter, detail);
}
