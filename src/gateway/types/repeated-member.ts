import { AppError } from '../../common/errors/app-error.js';
import { duplicateMember } from '../../common/json/duplicate-members.js';
import type { RequestContent } from './content.js';

/** Results by body: each attempt of a request, and each limit, needs the same one. */
const found = new WeakMap<Buffer, string | null>();

/** The first member that occurs twice in one object of a JSON body; null without one. */
export function repeatedMember({ json, body }: Pick<RequestContent, 'json' | 'body'>): string | null {
  if (!json || !Buffer.isBuffer(body)) return null;
  const known = found.get(body);
  if (known !== undefined) return known;
  const name = duplicateMember(body.toString('utf8'));
  found.set(body, name);
  return name;
}

/** As the end of a sentence about the body. */
export const repeatedInWords = (name: string): string =>
  `it has the member "${name.slice(0, 64)}" twice in one object, so it is unclear which one counts. Send each member once`;

/**
 * Throws `invalid_request` if `reader`, such as a budget, cannot tell which of two equal members the provider will use. Called only where
 * something reads the body, so other requests are not searched.
 */
export function refuseRepeatedMember(content: Pick<RequestContent, 'json' | 'body'>, reader: string): void {
  const name = repeatedMember(content);
  if (name === null) return;
  throw new AppError('invalid_request', {
    detail: `The body cannot be read for ${reader}: ${repeatedInWords(name)}.`,
  });
}
