import { textOrNull } from '../../endpoints/reading.js';
import { textError, words } from '../statuses.js';

/** A request or a response contained a token of Cohere's deny list: https://docs.cohere.com/reference/chat */
const DENIED = 498;

/** A Cohere error: `{ message }`. Never throws. https://docs.cohere.com/v2/reference/errors */
export const cohereError = textError(
  ({ message }) => textOrNull(message),
  'Cohere',
  new Map([[DENIED, words('invalid_request_error', 'content_filter')]]),
);
