import { isObject, list, textOf } from '../../endpoints/reading.js';
import { textError } from '../statuses.js';

/**
 * An error of Jina or Voyage: `{ detail }`, at Jina with the invalid fields in `errors[]`. Neither documents it; seen in
 * https://github.com/infiniflow/ragflow/issues/11614 and https://github.com/diegosouzapw/OmniRoute/issues/7809. Never throws.
 */
export const detailError = textError(({ detail, message, errors }) =>
  [textOf(detail) || textOf(message), ...list(errors).map(fieldError)]
    .filter((text) => text !== '')
    .join('; '),
);

function fieldError(error: unknown): string {
  if (!isObject(error)) return '';
  return [textOf(error.field), textOf(error.message)].filter((text) => text !== '').join(': ');
}
