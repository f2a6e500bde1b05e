import { USER_KEY } from '../../rollups/dimensions.js';
import type { Granularity } from '../../rollups/granularities.js';
import { WORKED_OUT } from '../../rollups/measures.js';
import { type CountBytes, DURATION_BYTES, packedUsers } from '../../rollups/ready.js';
import { measureColumns, READ_MEASURES, type ReadMeasureName } from '../read-measures.js';
import { metadataKeyOf, type SourceKind } from '../sources.js';
import type { GroupedBy } from '../usage-store.js';

/** What a query computes from rows, which decides about the columns that it reads. */
export interface ColumnsRequest {
  readonly measures: readonly ReadMeasureName[];
  /** Starts of the points of a series; empty for groups. */
  readonly slots: readonly number[];
  readonly by?: GroupedBy;
}

/** `isFiltered`: the rows have conditions, which may name the tenant. */
type RollupColumnsRequest = ColumnsRequest & { readonly isFiltered: boolean };

/** A family of rollups, or the request rows. */
export interface PostgresSource {
  /** Null for the request rows. */
  readonly table: ((granularity: Granularity) => string) | null;
  readonly time: string;
  /** A further condition, which begins with AND. */
  readonly where: string;
  /**
   * The columns to read from a row, under the names that filters use for request rows. Rollups give only those that the query uses:
   * PostgreSQL builds a row of every named column, and passes rows of an index on unchanged if all of them are used (528,000 rows by end
   * user: 195 ms with the tenant and the time, 163 without).
   */
  readonly columns: (options: RollupColumnsRequest, granularity: Granularity | null) => string;
  readonly select: (measures: readonly ReadMeasureName[]) => string;
  /** Like `select`, but histograms as texts that the caller adds up; null where each request has a row. */
  readonly selectTexts: ((measures: readonly ReadMeasureName[]) => string) | null;
}

const measured =
  (of: 'ofRollup' | 'ofRequests') =>
  (measures: readonly ReadMeasureName[]): string =>
    measures.map((name) => `${READ_MEASURES[name][of]} AS ${name}`).join(', ');

/** The column of a measure's counts as bytes, beside the text column. */
export const packedOf = (name: ReadMeasureName, countBytes: CountBytes): string =>
  `packed_${name}_${countBytes}`;

const NOT_PACKED = 'durations_not_packed';

/** The histogram, only in rows without the precomputed column: it is wide, and PostgreSQL writes rows to disk that exceed its memory. */
const UNLESS_PACKED = `CASE WHEN durations IS NULL THEN duration_histogram END AS ${NOT_PACKED}`;

/** A row's durations are read from one of two columns: `durations` if it has a value, which is precomputed, or the histogram. */
const texts =
  (countBytes: CountBytes) =>
  (measures: readonly ReadMeasureName[]): string =>
    measures
      .map((name) => {
        const { type, ofRollup } = READ_MEASURES[name];
        if (type !== 'jsonb') return `${ofRollup} AS ${name}`;
        if (name !== 'duration_histogram') return `string_agg(${name}::text, '') AS ${name}`;
        return `string_agg(${NOT_PACKED}::text, '') AS ${name},
          string_agg(durations, '') AS ${packedOf(name, countBytes)}`;
      })
      .join(', ');

const ROLLUP = { time: 'bucket', select: measured('ofRollup') } as const;

/** `named`: the columns of its dimensions. */
const columnsOfRollup = (
  named: readonly string[],
  { measures, slots, by, isFiltered }: RollupColumnsRequest,
): string =>
  [
    ...(isFiltered ? ['organisation_id'] : []),
    ...(isFiltered || by?.kind === 'workspace' ? ['workspace_id'] : []),
    ...(slots.length > 0 ? ['bucket AS at'] : []),
    ...named,
    ...measureColumns(measures),
    ...(measures.includes('duration_histogram') ? ['durations', UNLESS_PACKED] : []),
  ].join(', ');

const REQUEST_ROWS: PostgresSource = {
  table: null,
  time: 'created_at',
  where: '',
  columns: () => `*, created_at AS at, ${WORKED_OUT}`,
  select: measured('ofRequests'),
  selectTexts: null,
};

const cubeSource = (dimensions: readonly string[]): PostgresSource => ({
  ...ROLLUP,
  table: (granularity) => `usage_${granularity}`,
  where: '',
  columns: (options) => columnsOfRollup(dimensions, options),
  selectTexts: texts(DURATION_BYTES.cube),
});

/** An SQL literal. Metadata keys come from the operator's settings; quotes in them must be harmless. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const sliceTable = (granularity: Granularity): string => `usage_slice_${granularity}`;

const metadataAs = (key: string): string =>
  `CASE WHEN value = '' THEN '{}'::jsonb ELSE jsonb_build_object(${literal(key)}, value) END AS metadata`;

/** Metadata is built only for filters: groups need just the value, and a JSON object per row takes half of their time. */
function namedBySlice(dimension: string, isFiltered: boolean): readonly string[] {
  if (dimension === 'all') return [];
  if (dimension === 'api_key_id') return ['value::uuid AS api_key_id'];
  const chosenKey = metadataKeyOf(dimension);
  const key = dimension === 'end_user' ? USER_KEY : chosenKey;
  return [
    chosenKey === null ? `value AS ${dimension}` : 'value',
    ...(key !== null && isFiltered ? [metadataAs(key)] : []),
  ];
}

const sliceSource = (dimension: string): PostgresSource => ({
  ...ROLLUP,
  table: sliceTable,
  where: ` AND dimension = ${literal(dimension)}`,
  columns: (options) => columnsOfRollup(namedBySlice(dimension, options.isFiltered), options),
  selectTexts: texts(DURATION_BYTES.slices),
});

/** All requests, one row per bucket, with the hashes of its end users as `users`. */
export const USERS_OF_ALL: PostgresSource = {
  ...sliceSource('all'),
  columns: (_, granularity) => `bucket AS at, ${usersOfBucket(sliceTable(granularity ?? 'minute'))} AS users`,
};

const usersOfBucket = (table: string): string =>
  `coalesce(users, ${packedUsers(`(SELECT value FROM ${table} AS named WHERE named.organisation_id = ${table}.organisation_id
    AND named.workspace_id = ${table}.workspace_id AND named.bucket = ${table}.bucket AND named.dimension = 'end_user') AS seen`)})`;

export function postgresSource(source: SourceKind): PostgresSource {
  if (source.kind === 'slice') return sliceSource(source.dimension);
  return source.kind === 'cube' ? cubeSource(source.dimensions) : REQUEST_ROWS;
}
