import { textOrNull } from '../../endpoints/reading.js';
import { textError, words } from '../statuses.js';

/** A request or an answer had a token that Cohere's deny list has: https://docs.cohere.com/reference/chat */
const DENIED = 498;

/** A refusal of Cohere: `{ message }`. Never throws. https://docs.cohere.com/v2/reference/errors */
export const cohereError = textError(
  ({ message }) => textOrNull(message),
  'Cohere',
  new Map([[DENIED, words('invalid_request_error', 'content_filter')]]),
);
