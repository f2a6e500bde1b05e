import { list, textOrNull } from '../../endpoints/reading.js';
import type { Context } from '../../translation.js';
import { invalidRequest } from '../refusing.js';
import { textError } from '../statuses.js';

/** `BAAI/bge-large-en-v1.5`, optionally with this provider's suffix. No segment can be read as "..". */
const MODEL =
  /^((?:(?=[^/]*[A-Za-z0-9])[A-Za-z0-9._-]{1,100}\/)?(?=[^/]*[A-Za-z0-9])[A-Za-z0-9._-]{1,100})(?::hf-inference)?$/;

/** The path of a model, below the origin. Throws `invalid_request`. */
export function huggingFaceModelPath({ model }: Context): string {
  const [, name] = MODEL.exec(model) ?? [];
  if (name === undefined)
    throw invalidRequest(
      'The model must be a name of Hugging Face that HF Inference serves, like BAAI/bge-large-en-v1.5.',
    );
  return `/hf-inference/models/${name}`;
}

/** An error: `{ error: text }`, or a list of them. Never throws. */
export const huggingFaceError = textError(
  ({ error, message }) =>
    textOrNull(error) ??
    (list(error)
      .filter((text) => typeof text === 'string')
      .join('; ') ||
      textOrNull(message)),
);
