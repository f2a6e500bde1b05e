import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';

/**
 * Gemini's thought signatures: sealed notes of the model on its own reasoning, which it wants back with the part that
 * they came with. In the hub they lie where Google's own layer for OpenAI's clients puts them,
 * `extra_content.google.thought_signature`. https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export const extraContent = (signature: string): Json => ({ google: { thought_signature: signature } });

/** The signature that a tool call or a message of the hub carries; undefined where it has none. */
export function signatureOf(carrier: Json): string | undefined {
  const google = isObject(carrier.extra_content) ? carrier.extra_content.google : undefined;
  const signature = isObject(google) ? google.thought_signature : undefined;
  return typeof signature === 'string' && signature !== '' ? signature : undefined;
}

/**
 * Stands in for a signature where the history has none: the call was made by another model, or the client did not keep
 * what it was given. Gemini 3 refuses the first call of a step without any.
 * https://ai.google.dev/gemini-api/docs/thought-signatures#faqs
 */
export const UNSIGNED = 'skip_thought_signature_validator';
