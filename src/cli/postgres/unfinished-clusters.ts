import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A killed launcher's initdb goes on without it and makes files where they are being removed, until it misses one: seconds. */
const REMOVAL = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 } as const;

/** A folder beside the cluster's own, where one is made; its name tells a later start what it may throw away. */
export async function makeWorkshop(folder: string): Promise<string> {
  return mkdtemp(`${folder}.init-`);
}

/** Removes what starts that were killed left of clusters half made, also where one is still being made by nobody's order. */
export async function removeUnfinished(folder: string): Promise<void> {
  const prefix = `${basename(folder)}.init-`;
  const siblings = await readdir(dirname(folder));
  const unfinished = siblings.filter((name) => name.startsWith(prefix));
  await Promise.all(unfinished.map((name) => rm(join(dirname(folder), name), REMOVAL)));
}
