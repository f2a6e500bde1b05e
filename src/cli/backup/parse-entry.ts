import type { z } from 'zod';
import { LauncherError } from '../launcher-error.js';

/** The content of an entry in JSON. Throws, naming the entry, for another form: a parser's own message would quote the entry. */
export function parseEntry<Content>(entry: string, schema: z.ZodType<Content>, text: string): Content {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new LauncherError(
      `The entry ${entry} cannot be read: the file was changed, or is no backup of Gatehouse. Restore another file.`,
      { cause },
    );
  }
}
