import type { RetentionDays } from '../../../common/settings/settings.js';
import { CUBE, CUBE_COLUMNS, type DimensionType, USER_KEY } from '../../rollups/dimensions.js';
import { type Grain, GRAINS } from '../../rollups/grains.js';
import { MEASURE_NAMES, MEASURES } from '../../rollups/measures.js';
import { CUBE_VALUES, literal, SLICES_OF_REQUEST, tenantAt } from './expressions.js';
import { COUNTED_COLUMNS, ROW_COLUMNS } from './request-row.js';

/** A table of ClickHouse, without what depends on the cluster. */
export interface Table {
  readonly name: string;
  readonly engine: 'MergeTree' | 'AggregatingMergeTree';
  readonly columns: readonly (readonly [name: string, type: string])[];
  /** Columns that the table makes of others by itself. Nobody inserts them, and `*` leaves them out. */
  readonly derived?: readonly (readonly [name: string, type: string, expression: string])[];
  readonly indexes: readonly string[];
  readonly partition: string;
  readonly order: readonly string[];
  /** Since when its rows are old, and the setting that says for how many days they are kept; null when time alone removes none. */
  readonly expires: { readonly since: string; readonly kept: keyof RetentionDays } | null;
  /** Spreads rows over shards. */
  readonly shardBy: string;
  /** What differs from ClickHouse's defaults: https://clickhouse.com/docs/operations/settings/merge-tree-settings */
  readonly settings?: Readonly<Record<string, number>>;
}

/** Rows that one table makes of what is inserted into another. */
export interface View {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly select: (from: string) => string;
}

/**
 * The end user of a request by itself, as PostgreSQL has it; empty where none is named. A block of rows has each name once: few
 * people are compared by number, and of many the index leaves most blocks out.
 */
const END_USER = ['end_user', 'LowCardinality(String)', `metadata[${literal(USER_KEY)}]`] as const;

/**
 * What a filter may name and few rows have, or none: a block whose rows all have other values is left out without being read. Of a column of
 * few values all indexes of ten million rows take some kilobytes.
 * https://clickhouse.com/docs/optimize/skipping-indexes
 */
const SOUGHT = [
  ...['id', 'batch_id', 'trace_id', END_USER[0], 'api_key_id', 'user_id', 'config_id'],
  ...['virtual_key', 'provider', 'model', 'status', 'error_code', 'prompt_slug'],
];

/**
 * A page of what is rare has each of its rows in another block, and of each block all of the table's columns are read. So blocks are a quarter of
 * the usual 8,192 rows, and what is packed together ends with them: by itself neither changes anything. For a twentieth more of disk such pages
 * take half of the time.
 */
const SMALL_BLOCKS = {
  index_granularity: 2_048,
  min_compress_block_size: 8_192,
  max_compress_block_size: 65_536,
};

/** The rows that lists show, and that filters are asked of which no rollup can answer. */
const REQUESTS: Table = {
  name: 'request_logs',
  engine: 'MergeTree',
  columns: ROW_COLUMNS.map(({ name, type }) => [name, type] as const),
  derived: [END_USER],
  indexes: SOUGHT.map((column) => `INDEX by_${column} ${column} TYPE bloom_filter GRANULARITY 1`),
  partition: 'toYYYYMMDD(created_at)',
  order: ['organisation_id', 'workspace_id', 'created_at', 'id'],
  // A TTL would know neither legal holds nor the times of workspaces: src/jobs/retention removes these rows.
  expires: null,
  shardBy: 'sipHash64(id)',
  settings: SMALL_BLOCKS,
};

const TYPES: Readonly<Record<DimensionType, string>> = {
  id: 'UUID',
  text: 'LowCardinality(String)',
  status: 'Int16',
};

interface Family {
  readonly table: (grain: Grain) => string;
  /** What tells its rows apart beside tenant and bucket. */
  readonly columns: readonly (readonly [name: string, type: string])[];
  /** The request rows with these columns. */
  readonly requests: (from: string, grain: Grain) => string;
}

/** Under names of their own, because measures bear names of columns that others are made of. */
const COUNTED = MEASURE_NAMES.map((name) => `${MEASURES[name].clickhouse.ofRequests} AS of_${name}`).join(
  ', ',
);
const RENAMED = MEASURE_NAMES.map((name) => `of_${name} AS ${name}`).join(', ');

/** The two families of rollups, as in PostgreSQL: docs/decisions/0017-analytics-rollups.md. */
const FAMILIES: readonly Family[] = [
  {
    table: (grain) => `usage_${grain}`,
    columns: CUBE_COLUMNS.map((name) => [name, TYPES[CUBE[name]]] as const),
    requests: (from, grain) =>
      `SELECT ${tenantAt(grain)}, ${CUBE_VALUES}, ${columnsBeside(CUBE_COLUMNS)} FROM ${from}`,
  },
  {
    table: (grain) => `usage_slice_${grain}`,
    columns: [
      ['dimension', 'LowCardinality(String)'],
      ['value', 'String'],
    ],
    requests: (from, grain) =>
      `SELECT ${tenantAt(grain)}, slice.1 AS dimension, slice.2 AS value, ${columnsBeside([])}
       FROM ${from} ARRAY JOIN ${SLICES_OF_REQUEST} AS slice`,
  },
];

const TENANT = ['organisation_id', 'workspace_id'] as const;

/** Columns of the request row that are not given another meaning. */
function columnsBeside(columns: readonly string[]): string {
  const taken: ReadonlySet<string> = new Set([...TENANT, ...columns]);
  return COUNTED_COLUMNS.filter(({ name }) => !taken.has(name))
    .map(({ name }) => name)
    .join(', ');
}

const rollup = ({ table, columns }: Family, grain: Grain): Table => ({
  name: table(grain),
  engine: 'AggregatingMergeTree',
  columns: [
    ...TENANT.map((name) => [name, 'UUID'] as const),
    ['bucket', "DateTime('UTC')"],
    ...columns,
    ...MEASURE_NAMES.map((name) => [name, MEASURES[name].clickhouse.type] as const),
  ],
  indexes: [],
  partition: grain === 'minute' ? 'toYYYYMMDD(bucket)' : 'toYYYYMM(bucket)',
  order: [...TENANT, 'bucket', ...columns.map(([name]) => name)],
  expires: grain === 'minute' ? { since: 'bucket', kept: 'minutes' } : null,
  shardBy: 'rand()',
});

const view = (family: Family, grain: Grain): View => {
  const keys = [...TENANT, 'bucket', ...family.columns.map(([name]) => name)].join(', ');
  return {
    name: `${family.table(grain)}_of_requests`,
    from: REQUESTS.name,
    to: family.table(grain),
    select: (from) => `SELECT ${keys}, ${RENAMED} FROM (
        SELECT ${keys}, ${COUNTED} FROM (${family.requests(from, grain)}) GROUP BY ${keys})`,
  };
};

const ROLLUPS = FAMILIES.flatMap((family) => GRAINS.map((grain) => [family, grain] as const));

export const TABLES: readonly Table[] = [
  REQUESTS,
  ...ROLLUPS.map(([family, grain]) => rollup(family, grain)),
];

export const VIEWS: readonly View[] = ROLLUPS.map(([family, grain]) => view(family, grain));
