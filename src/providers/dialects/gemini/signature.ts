import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';

/**
 * Gemini's thought signatures: encrypted notes of the model on its own reasoning, which must be sent back with their part. In the hub they
 * are in the field of Google's own layer for OpenAI's clients, `extra_content.google.thought_signature`.
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export const extraContent = (signature: string): Json => ({ google: { thought_signature: signature } });

/** The signature of a tool call or a message of the hub; undefined without one. */
export function signatureOf(carrier: Json): string | undefined {
  const google = isObject(carrier.extra_content) ? carrier.extra_content.google : undefined;
  const signature = isObject(google) ? google.thought_signature : undefined;
  return typeof signature === 'string' && signature !== '' ? signature : undefined;
}

/**
 * Replaces a missing signature in the history: another model made the call, or the client did not keep the signature. Gemini 3 refuses the
 * first call of a step without one. https://ai.google.dev/gemini-api/docs/thought-signatures#faqs
 */
export const UNSIGNED = 'skip_thought_signature_validator';
