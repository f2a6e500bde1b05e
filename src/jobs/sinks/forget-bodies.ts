import { BODY_FOLDER, bodyOwner } from '../../request-log/bodies/body-objects.js';
import type { ObjectStore } from '../../request-log/bodies/object-store.js';
import type { KeptTimes } from '../../request-log/retention/kept-times.js';
import { GRANULARITY_MS } from '../../request-log/rollups/granularities.js';
import type { UnderTimes } from '../retention/under-times.js';

/** Objects removed in parallel. */
const AT_ONCE = 8;
/** Maximum time that placing a hold waits, less than the statement timeout of the administration. */
const REMOVE_WITHIN_MS = 1_500;

/**
 * Removes expired bodies, as retention does with the partitions: whole days, and nothing under a hold. Resolves with the number removed. A
 * round may take hours, so each decision is made right before removing a few objects; `onProgress` is called after each organization.
 */
export async function forgetBodies(
  store: ObjectStore,
  under: UnderTimes,
  onProgress: () => void = () => undefined,
): Promise<number> {
  let removed = 0;
  for await (const organizations of store.folders(BODY_FOLDER))
    for (const organization of organizations) {
      removed += await forgetOf(store, organization, under);
      onProgress();
    }
  return removed;
}

async function forgetOf(store: ObjectStore, organization: string, under: UnderTimes): Promise<number> {
  let removed = 0;
  const times = await under((now) => Promise.resolve(now));
  for await (const days of store.folders(organization))
    for (const day of days.filter((folder) => isExpired(folder, times.latest('bodies'))))
      for await (const keys of store.keys(day))
        removed += await removeOver(
          store,
          keys.filter((key) => isExpiredFor(key, times)),
          under,
        );
  return removed;
}

const DAY = /\/(\d{4}-\d{2}-\d{2})\//;

/** Nothing is known of a folder or key without a day, so it stays. */
const endOf = (key: string): number => Date.parse(DAY.exec(key)?.[1] ?? '') + GRANULARITY_MS.day;

const isExpired = (key: string, since: number): boolean => endOf(key) <= since;

function isExpiredFor(key: string, times: KeptTimes): boolean {
  const owner = bodyOwner(key);
  if (!owner) return false;
  const { organizationId: organization_id, workspaceId: workspace_id } = owner;
  return isExpired(key, times.since('bodies', { organization_id, workspace_id }));
}

async function removeOver(store: ObjectStore, keys: readonly string[], under: UnderTimes): Promise<number> {
  let removed = 0;
  for (let at = 0; at < keys.length; at += AT_ONCE)
    removed += await under(async (times) => {
      const over = keys.slice(at, at + AT_ONCE).filter((key) => isExpiredFor(key, times));
      const signal = AbortSignal.timeout(REMOVE_WITHIN_MS);
      await Promise.all(over.map((key) => store.remove(key, signal)));
      return over.length;
    });
  return removed;
}
