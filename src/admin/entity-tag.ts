import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../common/errors/app-error.js';

const DIGEST_CHARACTERS = 27;

/**
 * The entity tag of a thing as the API shows it: https://www.rfc-editor.org/rfc/rfc9110#name-etag. Some answers wrap
 * the thing into `data`; the tag is of what is inside.
 */
export function entityTagOf(shown: object): string {
  const { success, data } = shown as { success?: unknown; data?: unknown };
  const thing = success === true && typeof data === 'object' ? data : shown;
  const digest = createHash('sha256').update(JSON.stringify(thing, withoutUse)).digest('base64url');
  return `"${digest.slice(0, DIGEST_CHARACTERS)}"`;
}

/** A list has no tag: no change is about a whole list, and a tag of a hundred things costs more than finding them. */
export const isOneThing = (shown: object): boolean =>
  (shown as { object?: unknown }).object !== 'list' && !('records' in shown || 'total' in shown);

/** What changes with requests and is not set would make every tag of a busy thing out of date. */
const CHANGED_BY_USE: ReadonlySet<string> = new Set(['usage', 'status', 'last_used_at']);

const withoutUse = (name: string, value: unknown): unknown => (CHANGED_BY_USE.has(name) ? undefined : value);

/** Whether a change is made only if the thing is still what the client saw. */
export const isConditional = (headers: IncomingHttpHeaders): boolean => headers['if-match'] !== undefined;

/**
 * Refuses with `precondition_failed` when the thing, whose row is locked by now, is not what `If-Match` names.
 * https://www.rfc-editor.org/rfc/rfc9110#name-if-match
 */
export function checkMatch(headers: IncomingHttpHeaders, before: object): void {
  const wanted = headers['if-match'];
  if (wanted === undefined || wanted.trim() === '*') return;
  const tags = wanted.split(',').map((tag) => tag.trim());
  if (!tags.includes(entityTagOf(before))) throw new AppError('precondition_failed');
}
