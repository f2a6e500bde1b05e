import { endOfString } from './json-spans.js';

const QUOTE = 0x22;
const COLON = 0x3a;
const OPENS_LIST = 0x5b;
const CLOSES_LIST = 0x5d;
const OPENS_OBJECT = 0x7b;
const CLOSES_OBJECT = 0x7d;
const SPACE = 0x20;

/** The name of a member, and the index at which it occurs for the second time. */
export interface DuplicateMember {
  readonly name: string;
  readonly at: number;
}

/**
 * The first name that occurs twice in one object of a valid JSON text, however it is escaped; null without one. Parsers differ in which of
 * two members they use (https://www.rfc-editor.org/rfc/rfc8259#section-4), so a check may have read the other one.
 */
export const duplicateMember = (json: string): string | null => duplicateMemberAt(json)?.name ?? null;

/** The same, with its place. */
export function duplicateMemberAt(json: string): DuplicateMember | null {
  /** Names in the open objects; null for a list. */
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === OPENS_OBJECT) open.push(new Set());
    else if (code === OPENS_LIST) open.push(null);
    else if (code === CLOSES_OBJECT || code === CLOSES_LIST) open.pop();
    else if (code === QUOTE) {
      const end = endOfString(json, at);
      const name = repeatedName(json, at, end, open.at(-1));
      if (name !== null) return { name, at };
      at = end - 1;
    }
  }
  return null;
}

/** The name from `start` to `end` if its object already has it; otherwise records it and returns null. */
function repeatedName(
  json: string,
  start: number,
  end: number,
  names: Set<string> | null | undefined,
): string | null {
  if (!names || !isName(json, end)) return null;
  const name = nameIn(json.slice(start, end));
  if (names.has(name)) return name;
  names.add(name);
  return null;
}

/** Whether the string that ends there is a name, which a colon follows. */
function isName(json: string, end: number): boolean {
  let at = end;
  while (json.charCodeAt(at) <= SPACE) at++;
  return json.charCodeAt(at) === COLON;
}

const nameIn = (literal: string): string =>
  literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
