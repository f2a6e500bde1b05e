import { USER_KEY } from '../../rollups/dimensions.js';
import type { Granularity } from '../../rollups/granularities.js';
import { READ_MEASURES, type ReadMeasureName } from '../read-measures.js';
import { metadataKeyOf, type SourceKind } from '../sources.js';
import { literal } from './expressions.js';

/** A family of rollups, or the request rows. */
export interface ClickhouseSource {
  /** Null for the request rows. */
  readonly table: ((granularity: Granularity) => string) | null;
  readonly time: 'bucket' | 'created_at';
  /** A further condition, which begins with AND. */
  readonly where: string;
  /** Columns added to the table's, so that filters find the names that they use for request rows. */
  readonly columns: string;
  readonly select: (measures: readonly ReadMeasureName[]) => string;
}

const measured =
  (of: 'ofRollup' | 'ofRequests') =>
  (measures: readonly ReadMeasureName[]): string =>
    measures.map((name) => `${READ_MEASURES[name].clickhouse[of]} AS ${name}`).join(', ');

/** Seconds since the epoch. */
const at = (column: ClickhouseSource['time']): string => `toUInt32(toUnixTimestamp(${column})) AS at`;

const ROLLUP = { time: 'bucket', select: measured('ofRollup') } as const;

const REQUEST_ROWS: ClickhouseSource = {
  table: null,
  time: 'created_at',
  where: '',
  columns: `${at('created_at')}, end_user`,
  select: measured('ofRequests'),
};

const CUBE_SOURCE: ClickhouseSource = {
  ...ROLLUP,
  table: (granularity) => `usage_${granularity}`,
  where: '',
  columns: at('bucket'),
};

function sliceSource(dimension: string): ClickhouseSource {
  const key = metadataKeyOf(dimension);
  const metadata = (name: string): string =>
    `, if(value = '', CAST(map(), 'Map(String, String)'), map(${literal(name)}, value)) AS metadata`;
  const named = {
    all: '',
    // ClickHouse may evaluate the value of a row of another dimension, where it is not an id.
    api_key_id: ', toUUIDOrZero(value) AS api_key_id',
    end_user: `, value AS end_user${metadata(USER_KEY)}`,
  }[dimension];
  return {
    ...ROLLUP,
    table: (granularity) => `usage_slice_${granularity}`,
    where: ` AND dimension = ${literal(dimension)}`,
    columns: `${at('bucket')}${named ?? (key === null ? `, value AS ${dimension}` : metadata(key))}`,
  };
}

export function clickhouseSource(source: SourceKind): ClickhouseSource {
  if (source.kind === 'slice') return sliceSource(source.dimension);
  return source.kind === 'cube' ? CUBE_SOURCE : REQUEST_ROWS;
}
