import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The initdb of a killed launcher keeps creating files in the folder that is being removed, for seconds, until one is missing. */
const REMOVAL = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 } as const;

/** A temporary folder beside the cluster's own, to create one in; its name marks it as disposable for later starts. */
export async function makeWorkshop(folder: string): Promise<string> {
  return mkdtemp(`${folder}.init-`);
}

/** Removes partly created clusters of killed starts, even if an orphan is still working on one. */
export async function removeUnfinished(folder: string): Promise<void> {
  const prefix = `${basename(folder)}.init-`;
  const siblings = await readdir(dirname(folder));
  const unfinished = siblings.filter((name) => name.startsWith(prefix));
  await Promise.all(unfinished.map((name) => rm(join(dirname(folder), name), REMOVAL)));
}
