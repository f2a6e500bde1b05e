import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Paths of the files below a folder with this ending, relative to `root` and sorted. A missing folder has none. */
export async function filesBelow(root, folder, ending) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  return paths.map((path) => path.slice(root.length + 1)).sort();
}
