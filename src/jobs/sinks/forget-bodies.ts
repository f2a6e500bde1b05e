import { BODIES, ownerOf } from '../../common/object-store/body-objects.js';
import type { ObjectStore } from '../../common/object-store/object-store.js';
import type { KeptTimes } from '../../common/retention/kept-times.js';
import { GRAIN_MS } from '../../common/rollups/grains.js';

const AT_ONCE = 8;

/** Removes bodies whose time is over, as retention does with the partitions: whole days, and nothing of what is held. Resolves with how many. */
export async function forgetBodies(store: ObjectStore, times: KeptTimes): Promise<number> {
  let removed = 0;
  for await (const organizations of store.folders(BODIES))
    for (const organization of organizations) removed += await forgetOf(store, organization, times);
  return removed;
}

async function forgetOf(store: ObjectStore, organization: string, times: KeptTimes): Promise<number> {
  let removed = 0;
  for await (const days of store.folders(organization))
    for (const day of days.filter((folder) => isOver(folder, times.latest('bodies'))))
      for await (const keys of store.keys(day))
        removed += await remove(
          store,
          keys.filter((key) => isOverFor(key, times)),
        );
  return removed;
}

const DAY = /\/(\d{4}-\d{2}-\d{2})\//;

/** Of a folder or key that names no day nothing is known, so it stays. */
const endOf = (key: string): number => Date.parse(DAY.exec(key)?.[1] ?? '') + GRAIN_MS.day;

const isOver = (key: string, since: number): boolean => endOf(key) <= since;

function isOverFor(key: string, times: KeptTimes): boolean {
  const owner = ownerOf(key);
  if (!owner) return false;
  const { organizationId: organization_id, workspaceId: workspace_id } = owner;
  return isOver(key, times.since('bodies', { organization_id, workspace_id }));
}

async function remove(store: ObjectStore, keys: readonly string[]): Promise<number> {
  for (let at = 0; at < keys.length; at += AT_ONCE)
    await Promise.all(keys.slice(at, at + AT_ONCE).map((key) => store.remove(key)));
  return keys.length;
}
