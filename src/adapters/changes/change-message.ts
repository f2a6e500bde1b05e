import { type Change, isChangedResource } from '../../common/changes/change.js';

/** The name under which all processes of all instances talk, in PostgreSQL and in Redis. */
export const CHANGES_CHANNEL = 'gatehouse_changes';

/** The feed in metrics and readiness: its connection is tried every ten seconds. */
export const CHANGE_FEED_LOOP = 'change-feed';
export const CHANGE_FEED_STALLED_AFTER_MS = 60_000;

const MESSAGE = /^(\w+) (\S+)$/;

export function writeChange({ resource, id }: Change): string {
  return `${resource} ${id}`;
}

/** Null, which means "forget everything", for what another version may have meant. */
export function readChange(message: string): Change | null {
  const [, resource = '', id = ''] = MESSAGE.exec(message) ?? [];
  return isChangedResource(resource) ? { resource, id } : null;
}
