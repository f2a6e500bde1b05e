import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Readable and writable only by the owner. */
export const OWNER_ONLY = 0o600;

/**
 * Writes a file atomically: writes a temporary sibling, flushes it to disk, renames it over the target, and flushes the folder, because a
 * rename is only durable with its folder. A kill at any moment leaves the old or the new file, at worst with a `.tmp` sibling.
 */
export async function writeAtomically(path: string, content: string | AsyncIterable<Buffer>): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', OWNER_ONLY);
    try {
      for await (const part of typeof content === 'string' ? [content] : content) await file.writeFile(part);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes names that were created or renamed in a folder survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
