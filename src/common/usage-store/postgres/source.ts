import { USER_KEY } from '../../rollups/dimensions.js';
import type { Grain } from '../../rollups/grains.js';
import { WORKED_OUT } from '../../rollups/measures.js';
import { READ_MEASURES, type ReadMeasureName } from '../read-measures.js';
import { metadataKeyOf, type SourceKind } from '../sources.js';

/** A family of rollups, or the request rows. */
export interface Source {
  /** Null for the request rows. */
  readonly table: ((grain: Grain) => string) | null;
  readonly time: string;
  /** A further condition, which begins with AND. */
  readonly where: string;
  /** What is added to the columns of the table, so that filters find the names that they use for request rows. */
  readonly columns: string;
  readonly select: (measures: readonly ReadMeasureName[]) => string;
}

const measured =
  (of: 'ofRollup' | 'ofRequests') =>
  (measures: readonly ReadMeasureName[]): string =>
    measures.map((name) => `${READ_MEASURES[name][of]} AS ${name}`).join(', ');

const ROLLUP = { time: 'bucket', select: measured('ofRollup') } as const;

const REQUEST_ROWS: Source = {
  table: null,
  time: 'created_at',
  where: '',
  columns: `created_at AS at, ${WORKED_OUT}`,
  select: measured('ofRequests'),
};

const CUBE_SOURCE: Source = {
  ...ROLLUP,
  table: (grain) => `usage_${grain}`,
  where: '',
  columns: 'bucket AS at',
};

/** A literal of SQL. Keys of the metadata come from the operator's settings, but a quote in one must not matter. */
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

function sliceSource(dimension: string): Source {
  const key = metadataKeyOf(dimension);
  const metadata = (name: string): string =>
    `, CASE WHEN value = '' THEN '{}'::jsonb ELSE jsonb_build_object(${literal(name)}, value) END AS metadata`;
  const named = {
    all: '',
    api_key_id: ', value::uuid AS api_key_id',
    end_user: `, value AS end_user${metadata(USER_KEY)}`,
  }[dimension];
  return {
    ...ROLLUP,
    table: (grain) => `usage_slice_${grain}`,
    where: ` AND dimension = ${literal(dimension)}`,
    columns: `bucket AS at${named ?? (key === null ? `, value AS ${dimension}` : metadata(key))}`,
  };
}

export function sourceOf(source: SourceKind): Source {
  if (source.kind === 'slice') return sliceSource(source.dimension);
  return source.kind === 'cube' ? CUBE_SOURCE : REQUEST_ROWS;
}
