import {
  CUBE,
  CUBE_COLUMNS,
  type DimensionType,
  LONGEST_VALUE,
  NIL_ID,
  SLICE_COLUMNS,
  SLICES,
  USER_KEY,
} from './dimensions.js';
import type { Grain } from './grains.js';
import { MEASURE_NAMES, MEASURES } from './measures.js';

/** The two families of rollup tables: `cube` tells combinations apart, `slices` one dimension at a time. */
export interface Family {
  readonly table: (grain: Grain) => string;
  /** What identifies a row within its bucket, beside tenant and bucket. */
  readonly key: readonly string[];
  /** Columns of a row that are no measures. */
  readonly columns: readonly string[];
  /** The rows of `request_logs` with these columns; `where` narrows them. */
  readonly requests: (grain: Grain, where: string) => string;
}

const TENANT = ['organisation_id', 'workspace_id', 'bucket'] as const;

/** What is aggregated of a request, besides what tells it apart: every column that a measure reads. */
const tenantOf = (grain: Grain): string =>
  `organisation_id, coalesce(workspace_id, '${NIL_ID}'::uuid) AS workspace_id,
   date_trunc('${grain}', created_at, 'UTC') AS bucket`;

const COUNTED = `created_at, duration_ms, first_token_ms, overhead_us, usage_source, cost_nano_usd, saved_nano_usd,
  retry_count, fallback_count, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens,
  reasoning_tokens, audio_input_tokens, audio_output_tokens`;

/** The value of a dimension for a row of `request_logs`. */
const VALUES: Readonly<Record<DimensionType, (column: string) => string>> = {
  id: (column) => `coalesce(${column}, '${NIL_ID}'::uuid)`,
  text: (column) => `left(coalesce(${column}, ''), ${LONGEST_VALUE})`,
  status: (column) => column,
};

const cubeValues = CUBE_COLUMNS.map((name) => `${VALUES[CUBE[name]](name)} AS ${name}`).join(', ');

const SLICE_VALUES: Readonly<Record<(typeof SLICES)[number], string>> = {
  all: "''",
  api_key_id: `${VALUES.id('api_key_id')}::text`,
  model: VALUES.text('model'),
  end_user: VALUES.text(`metadata ->> '${USER_KEY}'`),
  prompt_slug: VALUES.text('prompt_slug'),
};

const sliceValues = SLICES.map((dimension) => `('${dimension}', ${SLICE_VALUES[dimension]})`).join(', ');

const CUBE_FAMILY: Family = {
  table: (grain) => `usage_${grain}`,
  key: ['key'],
  columns: [...TENANT, 'key', ...CUBE_COLUMNS],
  requests: (grain, where) => `
    SELECT *, rollup_key(jsonb_build_array(${CUBE_COLUMNS.join(', ')})::text) AS key
    FROM (SELECT ${tenantOf(grain)}, ${cubeValues}, ${COUNTED} FROM request_logs WHERE ${where}) AS told_apart`,
};

const SLICE_FAMILY: Family = {
  table: (grain) => `usage_slice_${grain}`,
  key: ['dimension', 'value'],
  columns: [...TENANT, ...SLICE_COLUMNS],
  requests: (grain, where) => `
    SELECT ${tenantOf(grain)}, dimension, value, status, cache_status, ${COUNTED}
    FROM request_logs CROSS JOIN LATERAL (
      VALUES ${sliceValues}
      UNION ALL
      SELECT 'metadata.' || key, left(coalesce(metadata ->> key, ''), ${LONGEST_VALUE})
      FROM rollup_metadata_keys WHERE counted_since <= request_logs.created_at
    ) AS slice (dimension, value)
    WHERE ${where}`,
};

/** In the order in which every process locks their rows. */
export const FAMILIES: readonly Family[] = [CUBE_FAMILY, SLICE_FAMILY];

const measured = (of: 'ofRequests' | 'ofRollup'): string =>
  MEASURE_NAMES.map((name) => `${MEASURES[name][of]} AS ${name}`).join(', ');

/** Sorted by the primary key: rows are locked in one order, so that no two processes wait for each other in a circle. */
function insertInto(family: Family, grain: Grain, select: string): string {
  const columns = [...family.columns, ...MEASURE_NAMES].join(', ');
  return `INSERT INTO ${family.table(grain)} (${columns}) ${select}
    ORDER BY organisation_id, workspace_id, bucket, ${family.key.join(', ')}`;
}

/** Adds the requests that `where` chooses to a grain. A row that is there grows; one that is not appears. */
export function addRequestsSql(family: Family, grain: Grain, where: string): string {
  const table = family.table(grain);
  const columns = family.columns.join(', ');
  const grown = MEASURE_NAMES.map(
    (name) => `${name} = ${MEASURES[name].added(`${table}.${name}`, `EXCLUDED.${name}`)}`,
  );
  const select = `SELECT ${columns}, ${measured('ofRequests')} FROM (${family.requests(grain, where)}) AS requests
    GROUP BY ${columns}`;
  return `${insertInto(family, grain, select)}
    ON CONFLICT (${[...TENANT, ...family.key].join(', ')}) DO UPDATE SET ${grown.join(', ')}`;
}

/** Makes one bucket of a grain out of the grain below. Parameters: the bucket's beginning and end. */
export function deriveSql(family: Family, grain: 'hour' | 'day'): string {
  const rest = family.columns.filter((column) => column !== 'bucket').join(', ');
  const columns = family.columns.map((column) =>
    column === 'bucket' ? '$1::timestamptz AS bucket' : column,
  );
  const select = `SELECT ${columns.join(', ')}, ${measured('ofRollup')} FROM ${family.table(grain === 'hour' ? 'minute' : 'hour')}
    WHERE bucket >= $1 AND bucket < $2 GROUP BY ${rest}`;
  return insertInto(family, grain, select);
}
