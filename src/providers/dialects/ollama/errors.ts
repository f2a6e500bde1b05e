import { textOrNull } from '../../endpoints/reading.js';
import { textError } from '../statuses.js';

/** A refusal, or a line of a stream that is one: `{ error: text }`. Never throws. https://docs.ollama.com/api/errors */
export const ollamaError = textError(({ error }) => textOrNull(error));
