import { type Change, isChangedResource } from '../../common/changes/change.js';

/** The channel that all processes of all instances share, in PostgreSQL and in Redis. */
export const CHANGES_CHANNEL = 'gatehouse_changes';

/** The feed's name in metrics and readiness. Its connection is checked every ten seconds. */
export const CHANGE_FEED_LOOP = 'change-feed';
export const CHANGE_FEED_STALLED_AFTER_MS = 60_000;

const MESSAGE = /^(\w+) (\S+)$/;

export function writeChange({ resource, id }: Change): string {
  return `${resource} ${id}`;
}

/** Null, which means "invalidate everything", for a message that this version cannot parse. */
export function readChange(message: string): Change | null {
  const [, resource = '', id = ''] = MESSAGE.exec(message) ?? [];
  return isChangedResource(resource) ? { resource, id } : null;
}
