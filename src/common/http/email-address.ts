import { normalizeEmail } from './normal-email.js';
import { rule } from './validators.js';

const isEmailAddress = (value: unknown): boolean =>
  typeof value === 'string' && normalizeEmail(value) !== null;

/** An email address that `normalizeEmail` accepts. */
export const IsEmailAddress = (): PropertyDecorator =>
  rule('isEmailAddress', 'it must be a valid e-mail address, in ASCII before the @', isEmailAddress, {
    format: 'email',
  });

/** A list of them. */
export const AreEmailAddresses = (): PropertyDecorator =>
  rule(
    'areEmailAddresses',
    'each must be a valid e-mail address, in ASCII before the @',
    (value) => Array.isArray(value) && value.every(isEmailAddress),
  );
