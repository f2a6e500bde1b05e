import {
  CUBE,
  CUBE_COLUMNS,
  type DimensionType,
  metadataSlice,
  NIL_ID,
  SLICES,
  USER_KEY,
} from '../../rollups/dimensions.js';
import type { Granularity } from '../../rollups/granularities.js';
import { labelInClickHouse } from '../../rollups/labels.js';

/** A literal of SQL. https://clickhouse.com/docs/sql-reference/syntax#string */
export const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

export const NO_ID = `toUUID('${NIL_ID}')`;

/** The value of a dimension for a row of `request_logs`. */
const VALUES: Readonly<Record<DimensionType, (column: string) => string>> = {
  id: (column) => `coalesce(${column}, ${NO_ID})`,
  text: (column) => labelInClickHouse(`coalesce(toString(${column}), '')`),
  status: (column) => column,
};

export const CUBE_VALUES = CUBE_COLUMNS.map((name) => `${VALUES[CUBE[name]](name)} AS ${name}`).join(', ');

const SLICE_VALUES: Readonly<Record<(typeof SLICES)[number], string>> = {
  all: "''",
  api_key_id: `toString(${VALUES.id('api_key_id')})`,
  model: VALUES.text('model'),
  end_user: labelInClickHouse(`metadata[${literal(USER_KEY)}]`),
  prompt_slug: VALUES.text('prompt_slug'),
};

const NAMED_SLICES = SLICES.map((dimension) => `('${dimension}', ${SLICE_VALUES[dimension]})`).join(', ');

/** All slices of a request, including those of the metadata keys chosen on arrival. */
export const SLICES_OF_REQUEST = `arrayConcat([${NAMED_SLICES}],
  arrayMap(key -> (concat('${metadataSlice('')}', key), ${labelInClickHouse('metadata[key]')}), chosen_keys))`;

const START_OF: Readonly<Record<Granularity, string>> = {
  minute: 'toStartOfMinute',
  hour: 'toStartOfHour',
  day: 'toStartOfDay',
};

export const tenantAt = (granularity: Granularity): string =>
  `organisation_id, workspace_id, toDateTime(${START_OF[granularity]}(created_at), 'UTC') AS bucket`;
