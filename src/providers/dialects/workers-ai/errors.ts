import { isObject, list, textOf, textOrNull } from '../../endpoints/reading.js';
import { textError } from '../statuses.js';

/**
 * An error: `{ success: false, errors: [{ code, message }] }`. Never throws. https://developers.cloudflare.com/workers-ai/platform/errors/
 */
export const workersError = textError(
  ({ errors, error }) =>
    list(errors)
      .filter(isObject)
      .map(({ message }) => textOf(message))
      .join('; ') || textOrNull(isObject(error) ? error.message : error),
);
