import type { SLICES } from './dimensions.js';
import { CUBE, CUBE_COLUMNS, type DimensionType, NIL_ID, SLICE_COLUMNS, USER_KEY } from './dimensions.js';
import type { Granularity } from './granularities.js';
import { labelSql } from './labels.js';
import { MEASURE_NAMES, MEASURES, WORKED_OUT } from './measures.js';
import { DURATION_BYTES, packedCounts, packedUsers } from './ready.js';

/** Request rows to count. */
export interface RollupSource {
  readonly where: string;
  readonly keys: KeyParameters;
}

/** Metadata keys that have slices: their number, and the parameters that hold their names and start times. */
export interface KeyParameters {
  readonly count: number;
  readonly names: string;
  readonly since: string;
}

/** The two families of rollup tables: `cube` by combinations of dimensions, `slices` by one dimension at a time. */
export interface RollupFamily {
  readonly table: (granularity: Granularity) => string;
  /** The columns that identify a row within its bucket, beside the tenant. */
  readonly key: readonly string[];
  /** Columns of a row that are not measures. */
  readonly columns: readonly string[];
  /** Whether metadata keys are distinguished. */
  readonly hasKeys: boolean;
  /** Rows of the table, columns and measures, computed from request rows. */
  readonly counted: (granularity: Granularity, source: RollupSource) => string;
  /** The columns precomputed for readers, each computed from the row `derived` and the rows of the finer granularity. */
  readonly ready: Readonly<Record<string, (parts: string) => string>>;
}

const TENANT_COLUMNS = ['organisation_id', 'workspace_id', 'bucket'] as const;
const TENANT = TENANT_COLUMNS.join(', ');

const tenantOf = (granularity: Granularity): string =>
  `organisation_id, coalesce(workspace_id, '${NIL_ID}'::uuid) AS workspace_id,
   date_trunc('${granularity}', created_at, 'UTC') AS bucket`;

/** The columns of a request that measures read. */
const COUNTED = `created_at, ending, duration_ms, first_token_ms, overhead_us, usage_source, cost_nano_usd, saved_nano_usd,
  retry_count, fallback_count, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens,
  reasoning_tokens, audio_input_tokens, audio_output_tokens, ${WORKED_OUT}`;

/** The value of a dimension for a row of `request_logs`. */
const VALUES: Readonly<Record<DimensionType, (column: string) => string>> = {
  id: (column) => `coalesce(${column}, '${NIL_ID}'::uuid)`,
  text: (column) => labelSql(`coalesce(${column}, '')`),
  status: (column) => column,
};

const measured = (of: 'ofRequests' | 'ofRollup'): string =>
  MEASURE_NAMES.map((name) => `${MEASURES[name][of]} AS ${name}`).join(', ');

const cubeValues = CUBE_COLUMNS.map((name) => `${VALUES[CUBE[name]](name)} AS ${name}`).join(', ');
const CUBE_KEY = `rollup_key(jsonb_build_array(${CUBE_COLUMNS.join(', ')})::text)`;

/** OFFSET keeps the planner from working a value out once more for each measure that reads it. */
const CUBE_FAMILY: RollupFamily = {
  table: (granularity) => `usage_${granularity}`,
  key: ['key'],
  columns: [...TENANT_COLUMNS, 'key', ...CUBE_COLUMNS],
  hasKeys: false,
  counted: (granularity, { where }) => `
    SELECT ${TENANT}, ${CUBE_KEY} AS key, ${CUBE_COLUMNS.join(', ')}, ${measured('ofRequests')}
    FROM (SELECT ${tenantOf(granularity)}, ${cubeValues}, ${COUNTED} FROM request_logs WHERE ${where} OFFSET 0) AS requests
    GROUP BY ${TENANT}, ${CUBE_COLUMNS.join(', ')}`,
  ready: { durations: () => packedCounts('derived.duration_histogram', DURATION_BYTES.cube) },
};

/** Slices whose values occur in many requests. */
const SHARED_SLICES: Readonly<Record<Exclude<(typeof SLICES)[number], 'end_user'>, string>> = {
  all: "''",
  api_key_id: `${VALUES.id('api_key_id')}::text`,
  model: VALUES.text('model'),
  prompt_slug: VALUES.text('prompt_slug'),
};

/** Columns of slices, each with its dimension and its value in a request; null where it is not counted. */
function sharedSlices({ count, names, since }: KeyParameters): { on: string; value: string; as: string }[] {
  const fixed = Object.entries(SHARED_SLICES).map(([on, value]) => ({
    on: `'${on}'`,
    value,
    as: `of_${on}`,
  }));
  const chosen = Array.from({ length: count }, (_, at) => {
    const key = `(${names}::text[])[${at + 1}]`;
    const value = `CASE WHEN created_at >= (${since}::timestamptz[])[${at + 1}] THEN ${VALUES.text(`metadata ->> ${key}`)} END`;
    return { on: `'metadata.' || ${key}`, value, as: `of_key_${at}` };
  });
  return [...fixed, ...chosen];
}

const usersOf = (parts: string): string =>
  packedUsers(`(SELECT DISTINCT value FROM ${parts} WHERE dimension = 'end_user') AS seen`);

/**
 * Requests are added up twice: by end user, with many values, and by the combination of the other slices, with few; the other slices are
 * then derived from those few sums.
 */
const SLICE_FAMILY: RollupFamily = {
  table: (granularity) => `usage_slice_${granularity}`,
  key: ['dimension', 'value'],
  columns: [...TENANT_COLUMNS, ...SLICE_COLUMNS],
  hasKeys: true,
  counted: (granularity, { where, keys }) => {
    const slices = sharedSlices(keys);
    const names = slices.map(({ as }) => as).join(', ');
    return `
    WITH requests AS MATERIALIZED (
      SELECT ${tenantOf(granularity)}, ${slices.map(({ value, as }) => `${value} AS ${as}`).join(', ')},
        ${VALUES.text(`metadata ->> '${USER_KEY}'`)} AS of_user, status, cache_status, ${COUNTED}
      FROM request_logs WHERE ${where}
    ), shared AS MATERIALIZED (
      SELECT ${TENANT}, ${names}, ${measured('ofRequests')} FROM requests GROUP BY ${TENANT}, ${names}
    )
    SELECT ${TENANT}, 'end_user' AS dimension, of_user AS value, ${measured('ofRequests')}
    FROM requests GROUP BY ${TENANT}, of_user
    UNION ALL
    SELECT ${TENANT}, dimension, value, ${measured('ofRollup')}
    FROM shared CROSS JOIN LATERAL (
      VALUES ${slices.map(({ on, as }) => `(${on}, ${as})`).join(', ')}
    ) AS slice (dimension, value)
    WHERE value IS NOT NULL GROUP BY ${TENANT}, dimension, value`;
  },
  ready: {
    users: (parts) => `CASE WHEN derived.dimension = 'all' THEN ${usersOf(parts)} END`,
    durations: () => packedCounts('derived.duration_histogram', DURATION_BYTES.slices),
  },
};

/** In the order in which every process locks their rows. */
export const FAMILIES: readonly RollupFamily[] = [CUBE_FAMILY, SLICE_FAMILY];

const columnsOf = (family: RollupFamily): string => [...family.columns, ...MEASURE_NAMES].join(', ');

/** The primary key. Rows are locked in its order, so that processes cannot deadlock. */
const orderOf = (family: RollupFamily): string =>
  `ORDER BY organisation_id, workspace_id, bucket, ${family.key.join(', ')}`;

/** Adds request rows to a granularity: creates rows or adds to existing ones, whose precomputed columns become outdated. */
export function addRequestsSql(family: RollupFamily, granularity: Granularity, source: RollupSource): string {
  const table = family.table(granularity);
  const grown = MEASURE_NAMES.map(
    (name) => `${name} = ${MEASURES[name].added(`${table}.${name}`, `EXCLUDED.${name}`)}`,
  );
  const outdated = Object.keys(family.ready).map((column) => `${column} = NULL`);
  return `INSERT INTO ${table} (${columnsOf(family)}) ${family.counted(granularity, source)} ${orderOf(family)}
    ON CONFLICT (${[TENANT, ...family.key].join(', ')}) DO UPDATE SET ${[...grown, ...outdated].join(', ')}`;
}

/** Derives a workspace's bucket from the finer granularity. Parameters: organization, workspace, the bucket's start and end. */
export function deriveSql(family: RollupFamily, granularity: 'hour' | 'day'): string {
  const rest = family.columns.filter((column) => column !== 'bucket').join(', ');
  const columns = family.columns.map((column) =>
    column === 'bucket' ? '$3::timestamptz AS bucket' : column,
  );
  const parts = `(SELECT * FROM ${family.table(granularity === 'hour' ? 'minute' : 'hour')}
    WHERE organisation_id = $1 AND workspace_id = $2 AND bucket >= $3 AND bucket < $4) AS parts`;
  const derived = `SELECT ${columns.join(', ')}, ${measured('ofRollup')} FROM ${parts} GROUP BY ${rest}`;
  const ready = Object.values(family.ready).map((valueOf) => valueOf(parts));
  return `INSERT INTO ${family.table(granularity)} (${[columnsOf(family), ...Object.keys(family.ready)].join(', ')})
    SELECT ${[columnsOf(family), ...ready].join(', ')} FROM (${derived}) AS derived ${orderOf(family)}`;
}
