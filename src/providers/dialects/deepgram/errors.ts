import { textOrNull } from '../../endpoints/reading.js';
import { textError } from '../statuses.js';

/**
 * An error: `{ err_code, err_msg }`, or `{ category, message, details }`. Never throws. https://developers.deepgram.com/reference/errors
 */
export const deepgramError = textError(
  ({ err_msg: errorMessage, message, details }) =>
    textOrNull(errorMessage) ?? [message, details].filter((text) => textOrNull(text) !== null).join(' '),
);
