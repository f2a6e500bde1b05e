import type { ObjectStore } from '../../common/object-store/object-store.js';
import { BODIES } from '../../common/object-store/body-objects.js';
import { GRAIN_MS, startOf } from '../../common/rollups/grains.js';

const DAY = /\/(\d{4}-\d{2}-\d{2})\/$/;
const AT_ONCE = 8;

/** Removes the bodies of days that the settings no longer keep, as retention does with the partitions. 0 keeps them for ever. */
export async function forgetBodies(store: ObjectStore, keptDays: number, now = Date.now()): Promise<number> {
  if (keptDays === 0) return 0;
  const before = new Date(startOf('day', now) - keptDays * GRAIN_MS.day).toISOString().slice(0, 10);
  let removed = 0;
  for await (const organizations of store.folders(BODIES))
    for (const organization of organizations)
      for await (const days of store.folders(organization))
        for (const day of days.filter((folder) => (DAY.exec(folder)?.[1] ?? before) < before))
          removed += await emptied(store, day);
  return removed;
}

async function emptied(store: ObjectStore, folder: string): Promise<number> {
  let removed = 0;
  for await (const keys of store.keys(folder))
    for (let at = 0; at < keys.length; at += AT_ONCE) {
      const some = keys.slice(at, at + AT_ONCE);
      await Promise.all(some.map((key) => store.remove(key)));
      removed += some.length;
    }
  return removed;
}
