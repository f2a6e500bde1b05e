import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The version in `package.json`, which is above this module in any build. */
export const VERSION: string = readVersion(dirname(fileURLToPath(import.meta.url)));

function readVersion(folder: string): string {
  const path = join(folder, 'package.json');
  if (!existsSync(path)) return readVersion(dirname(folder));
  return (JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }).version;
}
