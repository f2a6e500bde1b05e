const STRUCTURE = /["{}[\]]/g;
const BACKSLASH = 0x5c;
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
      STRUCTURE.lastIndex = end + 1;
    }
  }
  return null;
}

/** Where the closing quotation mark stands. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end > 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end < 0 ? json.length : end;
}

function isEscaped(json: string, at: number): boolean {
  let first = at;
  while (json.charCodeAt(first - 1) === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

/** The string from `start` to `end`; null where it is a value. */
function nameAt(json: string, start: number, end: number): string | null {
  BLANK.lastIndex = end + 1;
  BLANK.exec(json);
  if (json.charCodeAt(BLANK.lastIndex) !== COLON) return null;
  const raw = json.slice(start, end + 1);
  return raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
}
