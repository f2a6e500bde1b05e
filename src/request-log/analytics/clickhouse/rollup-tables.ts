import { CUBE, CUBE_COLUMNS, type DimensionType } from '../../rollups/dimensions.js';
import { type Granularity, GRANULARITIES } from '../../rollups/granularities.js';
import { MEASURE_NAMES, MEASURES } from '../../rollups/measures.js';
import { CUBE_VALUES, SLICES_OF_REQUEST, tenantAt } from './expressions.js';
import { COUNTED_COLUMNS } from './request-row.js';
import { REQUESTS } from './request-table.js';
import type { Table, View } from './table.js';

const TYPES: Readonly<Record<DimensionType, string>> = {
  id: 'UUID',
  text: 'LowCardinality(String)',
  status: 'Int16',
};

interface ClickhouseRollupFamily {
  readonly table: (granularity: Granularity) => string;
  /** The columns that identify a row beside tenant and bucket. */
  readonly columns: readonly (readonly [name: string, type: string])[];
  /** The request rows with these columns. */
  readonly requests: (from: string, granularity: Granularity) => string;
}

/** Under separate names, because measures share the names of columns that other measures are computed from. */
const COUNTED = MEASURE_NAMES.map((name) => `${MEASURES[name].clickhouse.ofRequests} AS of_${name}`).join(
  ', ',
);
const RENAMED = MEASURE_NAMES.map((name) => `of_${name} AS ${name}`).join(', ');

/** The two families of rollups, as in PostgreSQL: docs/decisions/0017-analytics-rollups.md. */
const FAMILIES: readonly ClickhouseRollupFamily[] = [
  {
    table: (granularity) => `usage_${granularity}`,
    columns: CUBE_COLUMNS.map((name) => [name, TYPES[CUBE[name]]] as const),
    requests: (from, granularity) =>
      `SELECT ${tenantAt(granularity)}, ${CUBE_VALUES}, ${columnsBeside(CUBE_COLUMNS)} FROM ${from}`,
  },
  {
    table: (granularity) => `usage_slice_${granularity}`,
    columns: [
      ['dimension', 'LowCardinality(String)'],
      ['value', 'String'],
    ],
    requests: (from, granularity) =>
      `SELECT ${tenantAt(granularity)}, slice.1 AS dimension, slice.2 AS value, ${columnsBeside([])}
       FROM ${from} ARRAY JOIN ${SLICES_OF_REQUEST} AS slice`,
  },
];

const TENANT = ['organisation_id', 'workspace_id'] as const;

/** Columns of the request row that are not redefined. */
function columnsBeside(columns: readonly string[]): string {
  const taken: ReadonlySet<string> = new Set([...TENANT, ...columns]);
  return COUNTED_COLUMNS.filter(({ name }) => !taken.has(name))
    .map(({ name }) => name)
    .join(', ');
}

const rollup = ({ table, columns }: ClickhouseRollupFamily, granularity: Granularity): Table => ({
  name: table(granularity),
  engine: 'AggregatingMergeTree',
  columns: [
    ...TENANT.map((name) => [name, 'UUID'] as const),
    ['bucket', "DateTime('UTC')"],
    ...columns,
    ...MEASURE_NAMES.map((name) => [name, MEASURES[name].clickhouse.type] as const),
  ],
  indexes: [],
  partition: granularity === 'minute' ? 'toYYYYMMDD(bucket)' : 'toYYYYMM(bucket)',
  order: [...TENANT, 'bucket', ...columns.map(([name]) => name)],
  expires: granularity === 'minute' ? { since: 'bucket', kept: 'minutes' } : null,
  shardBy: 'rand()',
});

const view = (family: ClickhouseRollupFamily, granularity: Granularity): View => {
  const keys = [...TENANT, 'bucket', ...family.columns.map(([name]) => name)].join(', ');
  return {
    name: `${family.table(granularity)}_of_requests`,
    from: REQUESTS.name,
    to: family.table(granularity),
    select: (from) => `SELECT ${keys}, ${RENAMED} FROM (
        SELECT ${keys}, ${COUNTED} FROM (${family.requests(from, granularity)}) GROUP BY ${keys})`,
  };
};

const ROLLUPS = FAMILIES.flatMap((family) =>
  GRANULARITIES.map((granularity) => [family, granularity] as const),
);

export const ROLLUP_TABLES: readonly Table[] = ROLLUPS.map(([family, granularity]) =>
  rollup(family, granularity),
);

/** A view of the requests fills each rollup. */
export const ROLLUP_VIEWS: readonly View[] = ROLLUPS.map(([family, granularity]) =>
  view(family, granularity),
);
