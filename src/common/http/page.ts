import { parameterError } from '../errors/field-errors.js';

/** A range of a list. */
export interface Page {
  readonly skip: number;
  readonly take: number;
}

/** A page as its query names it: its number from 0, and its size. */
export interface PageNumbers {
  readonly current_page: number;
  readonly page_size: number;
}

/** The total of a list if a page that is not full reveals it; otherwise it must be counted. */
export function totalFrom(found: number, { skip, take }: Page): number | null {
  return found < take && (found > 0 || skip === 0) ? skip + found : null;
}

/** The query of a list as parsed by the web server: a repeated name has an array. */
export type ListQuery = Readonly<Record<string, unknown>>;

/** A list in the compatible API's format. `total` counts the items of all pages. */
export interface ListPage<T> {
  readonly object: 'list';
  readonly total: number;
  readonly data: readonly T[];
}

const PAGE_NAMES = ['current_page', 'currentPage'] as const;
const SIZE_NAMES = ['page_size', 'pageSize'] as const;
const DEFAULT_SIZE = 50;
const LARGEST_SIZE = 100;
export const LARGEST_PAGE = 1_000_000;

/** The range that a list's query names. */
export const pageOf = ({ current_page, page_size }: PageNumbers): Page => ({
  skip: current_page * page_size,
  take: page_size,
});

/** Reads `current_page` (from 0) and `page_size` (1 to 100), in both spellings. Ignores other parameters. */
export function pageIn(query: ListQuery): Page {
  const page = wholeOf(query, PAGE_NAMES, { smallest: 0, largest: LARGEST_PAGE, usual: 0 });
  const take = wholeOf(query, SIZE_NAMES, { smallest: 1, largest: LARGEST_SIZE, usual: DEFAULT_SIZE });
  return { skip: page * take, take };
}

/**
 * One text parameter, or undefined. Refuses a repeated one, which would be ambiguous, and one with a NUL, which PostgreSQL texts cannot
 * hold: https://www.postgresql.org/docs/current/datatype-character.html
 */
export function parameterOf(query: ListQuery, ...names: readonly string[]): string | undefined {
  const given = names.filter((name) => query[name] !== undefined);
  const [name] = given;
  if (name === undefined) return undefined;
  const value = query[name];
  if (given.length > 1 || typeof value !== 'string') throw parameterError(name, 'may be sent only once');
  if (value.includes('\0')) throw parameterError(name, 'must not contain a NUL character');
  return value;
}

/** One of a list of words, or undefined. */
export function choiceOf<T extends string>(
  query: ListQuery,
  name: string,
  choices: readonly T[],
): T | undefined {
  const text = parameterOf(query, name);
  if (text === undefined) return undefined;
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw parameterError(name, `must be one of: ${choices.join(', ')}`);
}

/** A boolean; default: false. Other words are refused: `yes` must not count as `false`. */
export function flagOf(query: ListQuery, name: string): boolean {
  const text = parameterOf(query, name) ?? 'false';
  if (text === 'true' || text === 'false') return text === 'true';
  throw parameterError(name, 'must be "true" or "false"');
}

interface Bounds {
  readonly smallest: number;
  readonly largest: number;
  readonly usual: number;
}

function wholeOf(query: ListQuery, names: readonly string[], { smallest, largest, usual }: Bounds): number {
  const text = parameterOf(query, ...names);
  if (text === undefined) return usual;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= smallest && value <= largest) return value;
  throw parameterError(String(names[0]), `must be a whole number from ${smallest} to ${largest}`);
}
