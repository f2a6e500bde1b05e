import { parameterError } from '../../common/errors/field-errors.js';
import type { Json } from '../endpoint.js';
import { unsupportedParameter } from './refusing.js';

/** A provider's maximum of stop sequences, and its name for the error. */
interface StopLimit {
  readonly provider: string;
  readonly most: number;
}

/**
 * The hub's `stop`, a string or a list of strings, as a list. Empty texts stop nothing and are left out. Throws `invalid_request` for
 * anything else, `parameter_unsupported` for more than the provider accepts. https://platform.openai.com/docs/api-reference/chat/create
 * (stop)
 */
export function stopSequences({ stop }: Json, limit?: StopLimit): readonly string[] {
  const given: unknown = typeof stop === 'string' ? [stop] : (stop ?? []);
  if (!Array.isArray(given) || !given.every((one) => typeof one === 'string'))
    throw parameterError('stop', 'must be a string or a list of strings');
  const sequences = given.filter((one) => one !== '');
  if (limit && sequences.length > limit.most)
    throw unsupportedParameter('stop', `${limit.provider} takes at most ${limit.most} stop sequences`);
  return sequences;
}
