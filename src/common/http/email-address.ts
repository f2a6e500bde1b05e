import { type ListQuery, parameterOf } from './page.js';
import { parameterError } from '../errors/field-errors.js';
import { normalizeEmail } from './normal-email.js';
import { rule } from './validators.js';

const isEmailAddress = (value: unknown): boolean =>
  typeof value === 'string' && normalizeEmail(value) !== null;

/** An email address that `normalizeEmail` accepts. */
export const IsEmailAddress = (): PropertyDecorator =>
  rule('isEmailAddress', 'it must be a valid e-mail address, in ASCII before the @', isEmailAddress);

/** A list of them. */
export const AreEmailAddresses = (): PropertyDecorator =>
  rule(
    'areEmailAddresses',
    'each must be a valid e-mail address, in ASCII before the @',
    (value) => Array.isArray(value) && value.every(isEmailAddress),
  );

/** A normalized email address in the query, or undefined. */
export function emailParameterOf(query: ListQuery, name: string): string | undefined {
  const text = parameterOf(query, name);
  if (text === undefined) return undefined;
  const email = normalizeEmail(text);
  if (email === null) throw parameterError(name, 'must be an e-mail address');
  return email;
}
