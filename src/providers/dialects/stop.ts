import type { Json } from '../endpoint.js';
import { invalid, unsupported } from './refusing.js';

/** How many sequences a provider takes at most, and its name for the refusal. */
interface StopLimit {
  readonly provider: string;
  readonly most: number;
}

/**
 * The hub's `stop`, a string or a list of strings, as a list. A text without a character stops nothing and is left out. Throws
 * `invalid_request` for anything else, `parameter_unsupported` for more than the provider takes.
 * https://platform.openai.com/docs/api-reference/chat/create (stop)
 */
export function stopSequences({ stop }: Json, limit?: StopLimit): readonly string[] {
  const given: unknown = typeof stop === 'string' ? [stop] : (stop ?? []);
  if (!Array.isArray(given) || !given.every((one) => typeof one === 'string'))
    throw invalid('The parameter "stop" must be a string or a list of strings.');
  const sequences = given.filter((one) => one !== '');
  if (limit && sequences.length > limit.most)
    throw unsupported('stop', `${limit.provider} takes at most ${limit.most} stop sequences`);
  return sequences;
}
