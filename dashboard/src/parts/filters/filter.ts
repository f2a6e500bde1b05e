export type Operator = 'is' | 'not' | 'min' | 'max';

/** One condition on a list, by the list's fields. */
export interface Filter {
  readonly field: string;
  readonly operator: Operator;
  readonly value: string;
}

export interface FilterField {
  readonly key: string;
  readonly label: string;
  readonly operators: readonly Operator[];
  /** Values to choose from. Others can be typed unless `isClosed`. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  readonly isClosed?: boolean;
}

/** A value in the list, and how often it occurs. */
export interface FilterSuggestion {
  readonly value: string;
  readonly count: number;
}

/** The most frequent values of a field; empty for a field whose values are not counted. */
export type Suggest = (field: string) => Promise<readonly FilterSuggestion[]>;

export type ParsedFilters =
  | { readonly filters: readonly Filter[] }
  | { readonly problem: 'unreadable' | 'unknownField'; readonly text: string };

const OPERATORS: readonly Operator[] = ['is', 'not', 'min', 'max'];
const NEEDS_QUOTES = /[\s"]/;

const quoted = (value: string): string =>
  NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '\\"')}"` : value;

/** `status:is:429 model:is:"my model"`: the same text for the text form and the URL. */
export const filtersText = (filters: readonly Filter[]): string =>
  filters.map(({ field, operator, value }) => `${field}:${operator}:${quoted(value)}`).join(' ');

const TOKEN = /(?:[^\s"]|"(?:[^"\\]|\\.)*")+/g;

/** Parses the output of `filtersText`, or typed text. */
export function parseFilters(text: string, fields: readonly FilterField[]): ParsedFilters {
  const filters: Filter[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    const filter = parseFilter(token);
    if (!filter) return { problem: 'unreadable', text: token };
    const field = fields.find(({ key }) => key === filter.field);
    if (!field) return { problem: 'unknownField', text: filter.field };
    if (!field.operators.includes(filter.operator)) return { problem: 'unreadable', text: token };
    filters.push(filter);
  }
  return { filters };
}

function parseFilter(token: string): Filter | null {
  const found = /^([\w.]+):(\w+):(.+)$/s.exec(token);
  const [, field, operator, value] = found ?? [];
  if (!field || !value || !isOperator(operator)) return null;
  return { field, operator, value: unquoted(value) };
}

const isOperator = (text: string | undefined): text is Operator =>
  OPERATORS.some((operator) => operator === text);

const unquoted = (value: string): string =>
  value.startsWith('"') && value.endsWith('"') && value.length > 1
    ? value.slice(1, -1).replaceAll('\\"', '"')
    : value;
