import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../common/errors/app-error.js';

const DIGEST_CHARACTERS = 27;

/**
 * The entity tag of a resource as the API shows it: https://www.rfc-editor.org/rfc/rfc9110#name-etag. For responses that wrap the resource
 * in `data`, the tag is that of the content.
 */
export function entityTagOf(shown: object): string {
  const { success, data } = shown as { success?: unknown; data?: unknown };
  const thing = success === true && typeof data === 'object' ? data : shown;
  const digest = createHash('sha256').update(JSON.stringify(thing, withoutUse)).digest('base64url');
  return `"${digest.slice(0, DIGEST_CHARACTERS)}"`;
}

/** Lists have no tag: no change applies to a whole list, and tagging a hundred resources costs more than finding them. */
export const isOneThing = (shown: object): boolean =>
  (shown as { object?: unknown }).object !== 'list' && !('records' in shown || 'total' in shown);

/** Fields that requests change, and clients cannot set, would outdate every tag of a busy resource. */
const CHANGED_BY_USE: ReadonlySet<string> = new Set(['usage', 'status', 'last_used_at']);

const withoutUse = (name: string, value: unknown): unknown => (CHANGED_BY_USE.has(name) ? undefined : value);

/** Whether the change depends on the state that the client read. */
export const isConditional = (headers: IncomingHttpHeaders): boolean => headers['if-match'] !== undefined;

/**
 * Refuses with `precondition_failed` when the resource, whose row is already locked, does not match `If-Match`.
 * https://www.rfc-editor.org/rfc/rfc9110#name-if-match
 */
export function checkMatch(headers: IncomingHttpHeaders, before: object): void {
  const condition = headers['if-match'];
  if (condition === undefined || condition.trim() === '*') return;
  const tags = condition.split(',').map((tag) => tag.trim());
  if (!tags.includes(entityTagOf(before))) throw new AppError('precondition_failed');
}
