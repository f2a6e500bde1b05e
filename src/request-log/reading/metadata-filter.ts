import { USER_KEY } from '../rollups/dimensions.js';
import { labelInClickHouse, labelSql } from '../rollups/labels.js';
import type { BindTyped, Filter } from './filter-kinds.js';

type Pairs = Readonly<Record<string, string>>;

/** The pairs of a parameter that `metadataFilter` has read. */
export const pairsIn = (parameter: unknown): Pairs => JSON.parse(String(parameter)) as Pairs;

/** All pairs must match; `isEqual` compares the value of a pair. */
const allPairs = (bind: BindTyped, pairs: Pairs, isEqual: string): string =>
  `arrayAll((key, value) -> mapContains(metadata, key) AND ${isEqual},
    ${bind(Object.keys(pairs), 'Array(String)')}, ${bind(Object.values(pairs), 'Array(String)')})`;

/** Requests that have all pairs of a JSON object. */
export const metadataFilter: Filter = {
  sql: (placeholder) => `metadata @> ${placeholder}::jsonb`,
  inClickHouse: {
    sql: (bind, parameter) => {
      const pairs = pairsIn(parameter);
      const user = pairs[USER_KEY];
      // The column has an index; the map is read only for matching rows.
      const ofUser = user === undefined ? '' : `end_user = ${bind(user, 'String')} AND `;
      return `(${ofUser}${allPairs(bind, pairs, 'metadata[key] = value')})`;
    },
  },
  ofLabels: {
    sql: (
      placeholder,
    ) => `(SELECT bool_and(coalesce(value IN (metadata ->> key, ${labelSql('(metadata ->> key)')}), false))
      FROM jsonb_each_text(${placeholder}::jsonb) AS pair (key, value))`,
    inClickHouse: {
      sql: (bind, parameter) =>
        allPairs(bind, pairsIn(parameter), `value IN (metadata[key], ${labelInClickHouse('metadata[key]')})`),
    },
  },
  read: (text) => {
    const entries = Object.entries(objectIn(text) ?? { refused: null });
    return entries.flat().every(isStorable) ? JSON.stringify(Object.fromEntries(entries)) : undefined;
  },
  expects: 'a JSON object whose values are strings',
};

function objectIn(text: string): object | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** JSON can express lone surrogates and NUL, which PostgreSQL's texts cannot hold. */
function isStorable(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('\0') && !/\p{Surrogate}/u.test(value);
}
