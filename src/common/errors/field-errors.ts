import { didYouMean } from '../text/nearest-names.js';
import { AppError } from './app-error.js';

/** Steps to a part of a body: names of fields and indexes of lists. */
export type Steps = readonly (string | number)[];

/** The place of a part of a body, as every error writes it: `targets[0].weight`. */
export const fieldPath = (steps: Steps): string =>
  steps.reduce<string>(
    (place, step) => place + (typeof step === 'number' ? `[${step}]` : place === '' ? step : `.${step}`),
    '',
  );

/** `The field "limits[0].unit" is invalid: it must be a string.` The error names the field in `param`, as all of these do. */
export const invalidField = (place: string, rule: string): AppError =>
  fieldError(place, `is invalid: ${rule}`);

export const missingField = (place: string): AppError => fieldError(place, 'is missing');

/** `hint`: similar names. */
export const unknownField = (place: string, hint = ''): AppError =>
  invalid(place, `There is no field "${place}" here${hint}.`);

/** `The field "model" must be a string.` `rest` has no full stop. */
export const fieldError = (place: string, rest: string): AppError =>
  invalid(place, `The field "${place}" ${rest}.`);

/** The same of a parameter of a query, or of a model request. */
export const parameterError = (name: string, rest: string): AppError =>
  invalid(name, `The parameter "${name}" ${rest}.`);

const LONGEST_NAME = 64;

/** `known`: candidates for suggestions. `hint`: what to do instead. */
export function unknownParameter(name: string, known: readonly string[], hint = ''): AppError {
  const shown = name.slice(0, LONGEST_NAME);
  return invalid(shown, `There is no parameter "${shown}" here${didYouMean(shown, known)}.${hint}`);
}

const invalid = (parameter: string, detail: string): AppError =>
  new AppError('invalid_request', { detail, parameter });
