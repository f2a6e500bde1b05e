import { endOfString } from './json-spans.js';

const STRUCTURE = /["{}[\]]/g;
const COLON = 0x3a;
const BLANK = /[ \t\r\n]*/y;

/**
 * The first name that occurs twice in one object of a valid JSON text, however it is escaped; null where none does. Parsers differ in
 * which of two members they believe (https://www.rfc-editor.org/rfc/rfc8259#section-4), so a check may have seen the other one.
 */
export function duplicateMember(json: string): string | null {
  /** Names of the objects that are open; null for a list. */
  const open: (Set<string> | null)[] = [];
  STRUCTURE.lastIndex = 0;
  for (let found = STRUCTURE.exec(json); found; found = STRUCTURE.exec(json)) {
    const [char] = found;
    if (char === '{') open.push(new Set());
    else if (char === '[') open.push(null);
    else if (char !== '"') open.pop();
    else {
      const end = endOfString(json, found.index);
      const name = nameAt(json, found.index, end);
      const known = open.at(-1);
      if (name !== null && known?.has(name)) return name;
      if (name !== null) known?.add(name);
      STRUCTURE.lastIndex = end;
    }
  }
  return null;
}

/** The name from `start` up to, not including, `end`; null for a string that is a value. */
function nameAt(json: string, start: number, end: number): string | null {
  BLANK.lastIndex = end;
  BLANK.exec(json);
  if (json.charCodeAt(BLANK.lastIndex) !== COLON) return null;
  const raw = json.slice(start, end);
  return raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
}
