import { list, textOrNull } from '../../endpoints/reading.js';
import type { Context } from '../../translation.js';
import { invalid } from '../refusing.js';
import { textError } from '../statuses.js';

/** `BAAI/bge-large-en-v1.5`, with the provider that is asked here anyway: no segment that a reader could take for "up". */
const MODEL =
  /^((?:(?=[^/]*[A-Za-z0-9])[A-Za-z0-9._-]{1,100}\/)?(?=[^/]*[A-Za-z0-9])[A-Za-z0-9._-]{1,100})(?::hf-inference)?$/;

/** Where a model is asked, below the origin. Throws `invalid_request`. */
export function modelPath({ model }: Context): string {
  const [, name] = MODEL.exec(model) ?? [];
  if (name === undefined)
    throw invalid(
      'The model must be a name of Hugging Face that HF Inference serves, like BAAI/bge-large-en-v1.5.',
    );
  return `/hf-inference/models/${name}`;
}

/** A refusal: `{ error: text }`, or a list of them. Never throws. */
export const huggingFaceError = textError(
  ({ error, message }) =>
    textOrNull(error) ??
    (list(error)
      .filter((text) => typeof text === 'string')
      .join('; ') ||
      textOrNull(message)),
);
