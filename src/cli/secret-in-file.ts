import { readFile } from 'node:fs/promises';
import { LauncherError } from './launcher-error.js';

/** The text of a file without the trailing newline that editors add. */
export async function secretIn(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new LauncherError(`The file ${file} cannot be read: ${(cause as Error).message}.`, { cause });
  }
}
