import type { Json } from '../../endpoint.js';
import { objectOf } from '../../endpoints/reading.js';
import type { Context } from '../../translation.js';
import { invalidRequest } from '../refusing.js';

/** The field of the account. */
const ACCOUNT = 'workers-ai-account-id';

/** Names like `@cf/black-forest-labs/flux-1-schnell`: no segment can be read as "..". */
const MODEL = /^@(?:cf|hf)(?:\/(?=[^/]*[A-Za-z0-9])[A-Za-z0-9._-]{1,100}){1,3}$/;

/** The path of a model, below the origin. Throws `invalid_request`. */
export function runPath({ model, fields }: Context): string {
  if (!MODEL.test(model))
    throw invalidRequest('The model must be one of Workers AI, like @cf/openai/whisper.');
  return `/client/v4/accounts/${encodeURIComponent(fields[ACCOUNT] ?? '')}/ai/run/${model}`;
}

/** A model's result, which Cloudflare wraps in `{ result, success, errors, messages }`. */
export const resultOf = ({ result }: Json): Json => objectOf(result);
