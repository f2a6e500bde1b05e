import { USER_KEY } from '../../rollups/dimensions.js';
import type { Grain } from '../../rollups/grains.js';
import { WORKED_OUT } from '../../rollups/measures.js';
import { packedUsers } from '../../rollups/ready.js';
import { columnsOf, READ_MEASURES, type ReadMeasureName } from '../read-measures.js';
import { metadataKeyOf, type SourceKind } from '../sources.js';

/** A family of rollups, or the request rows. */
export interface PostgresSource {
  /** Null for the request rows. */
  readonly table: ((grain: Grain) => string) | null;
  readonly time: string;
  /** A further condition, which begins with AND. */
  readonly where: string;
  /**
   * The columns to read from a row, under the names that filters use for request rows. Rollups give only the requested ones: PostgreSQL
   * builds a row of every named column, which took as long as everything else (90,000 rows by end user: 43 ms with all columns, 30 with
   * these).
   */
  readonly columns: (measures: readonly ReadMeasureName[], grain: Grain | null) => string;
  readonly select: (measures: readonly ReadMeasureName[]) => string;
  /** Like `select`, but histograms as texts that the caller adds up; null where each request has a row. */
  readonly selectTexts: ((measures: readonly ReadMeasureName[]) => string) | null;
}

const measured =
  (of: 'ofRollup' | 'ofRequests') =>
  (measures: readonly ReadMeasureName[]): string =>
    measures.map((name) => `${READ_MEASURES[name][of]} AS ${name}`).join(', ');

const ROLLUP = { time: 'bucket', select: measured('ofRollup') } as const;

/** The column of a measure's counts as bytes, beside the text column. */
export const packedOf = (name: ReadMeasureName): string => `packed_${name}`;

/** `ready`: the column with precomputed durations. A row's counts are read from one of the two. */
const texts =
  (ready: string | null) =>
  (measures: readonly ReadMeasureName[]): string =>
    measures
      .map((name) => {
        const { type, ofRollup } = READ_MEASURES[name];
        if (type !== 'jsonb') return `${ofRollup} AS ${name}`;
        if (ready === null || name !== 'duration_histogram')
          return `string_agg(${name}::text, '') AS ${name}`;
        return `string_agg(CASE WHEN ${ready} IS NULL THEN ${name}::text END, '') AS ${name},
          string_agg(${ready}, '') AS ${packedOf(name)}`;
      })
      .join(', ');

/** `named`: the columns of its dimensions. */
const columnsOfRollup = (named: readonly string[], measures: readonly ReadMeasureName[]): string =>
  ['organisation_id', 'workspace_id', 'bucket AS at', ...named, ...columnsOf(measures)].join(', ');

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
  table: (grain) => `usage_${grain}`,
  where: '',
  columns: (measures) => {
    const ready = measures.includes('duration_histogram') ? ['durations'] : [];
    return columnsOfRollup([...dimensions, ...ready], measures);
  },
  selectTexts: texts('durations'),
});

/** An SQL literal. Metadata keys come from the operator's settings; quotes in them must be harmless. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const sliceTable = (grain: Grain): string => `usage_slice_${grain}`;

const metadataAs = (key: string): string =>
  `CASE WHEN value = '' THEN '{}'::jsonb ELSE jsonb_build_object(${literal(key)}, value) END AS metadata`;

/** Metadata is built only for filters: groups need just the value, and a JSON object per row takes half of their time. */
function namedBySlice(dimension: string, isFiltered: boolean): readonly string[] {
  if (dimension === 'all') return [];
  if (dimension === 'api_key_id') return ['value::uuid AS api_key_id'];
  const chosenKey = metadataKeyOf(dimension);
  const column = chosenKey === null ? [`value AS ${dimension}`] : [];
  const key = dimension === 'end_user' ? USER_KEY : chosenKey;
  return ['value', ...column, ...(key !== null && isFiltered ? [metadataAs(key)] : [])];
}

const sliceSource = (dimension: string, isFiltered: boolean): PostgresSource => ({
  ...ROLLUP,
  table: sliceTable,
  where: ` AND dimension = ${literal(dimension)}`,
  columns: (measures) => columnsOfRollup(namedBySlice(dimension, isFiltered), measures),
  selectTexts: texts(null),
});

/** All requests, one row per bucket, with the hashes of its end users as `users`. */
export const USERS_OF_ALL: PostgresSource = {
  ...sliceSource('all', false),
  columns: (_, grain) => `bucket AS at, ${usersOfBucket(sliceTable(grain ?? 'minute'))} AS users`,
};

const usersOfBucket = (table: string): string =>
  `coalesce(users, ${packedUsers(`(SELECT value FROM ${table} AS named WHERE named.organisation_id = ${table}.organisation_id
    AND named.workspace_id = ${table}.workspace_id AND named.bucket = ${table}.bucket AND named.dimension = 'end_user') AS seen`)})`;

export function sourceOf(source: SourceKind): PostgresSource {
  if (source.kind === 'slice') return sliceSource(source.dimension, source.isFiltered);
  return source.kind === 'cube' ? cubeSource(source.dimensions) : REQUEST_ROWS;
}
