import { textOrNull } from '../../endpoints/reading.js';
import { textError } from '../statuses.js';

/** An error response, or an error line of a stream: `{ error: text }`. Never throws. https://docs.ollama.com/api/errors */
export const ollamaError = textError(({ error }) => textOrNull(error));
