import { isAscii } from 'node:buffer';

export const UTF8_CHARSETS: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii']);
/** ASCII and one more character for each other byte, as old servers label their pages. */
const LATIN = /^(?:iso-?8859-?\d{1,2}|latin-?\d|windows-125\d|cp-?125\d)$/;
/** Also the extended form, `charset*=`: https://www.rfc-editor.org/rfc/rfc5987 */
const CHARSET = /charset\*?\d*\*?\s*=\s*"?([^\s;",]*)/gi;

/** Says of bytes whether a reader that believes their content type reads the same text as one that takes them for UTF-8. */
export function utf8ReaderOf(contentType: string | null | undefined): (bytes: Buffer) => boolean {
  const charsets = [...(contentType ?? '').matchAll(CHARSET)].map(([, name = '']) => name.toLowerCase());
  const others = charsets.filter((name) => !UTF8_CHARSETS.has(name));
  if (others.length === 0) return () => true;
  return others.every((name) => LATIN.test(name)) ? isAscii : () => false;
}
