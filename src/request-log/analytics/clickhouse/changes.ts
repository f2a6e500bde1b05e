import type { ClickHouseClient } from '@clickhouse/client';
import { CHANGES, type Ddl } from './ddl.js';

/** What a later release changes of tables that are there. */
interface Change {
  /** Never given to another change, whatever becomes of this one. */
  readonly version: number;
  readonly name: string;
  /**
   * Each of them changes nothing when it was done before, or when the table was made by this release: two processes may
   * do it at once, and a process that dies in between leaves the rest to the next. The columns stand here as they were
   * then, and not as the tables have them now.
   */
  readonly statements: (ddl: Ddl) => readonly string[];
}

const CHANGES_OF_TABLES: readonly Change[] = [
  {
    version: 1,
    name: 'what lists and details show of a request',
    statements: (ddl) =>
      ddl.addColumns('request_logs', [
        ['virtual_key_id', 'Nullable(UUID)'],
        ['config_version_id', 'Nullable(UUID)'],
        ['span_name', 'LowCardinality(Nullable(String))'],
        ['response_model', 'LowCardinality(Nullable(String))'],
        ['option_path', 'LowCardinality(Nullable(String))'],
        ['error_source', 'LowCardinality(Nullable(String))'],
        ['method', 'LowCardinality(String)'],
        ['path', 'String'],
        ['parent_span_id', 'Nullable(String)'],
        ['decisions', 'Nullable(String)'],
        ['hook_results', 'Nullable(String)'],
        ['streamed', 'Bool'],
        ['request_bytes', 'Int64'],
        ['response_bytes', 'Int64'],
        ['attempt_count', 'Int16'],
        ['cache_score', 'Nullable(Float32)'],
        ['has_metadata', 'Bool'],
        ['is_whole', 'Bool'],
      ]),
  },
  {
    version: 2,
    name: 'the end user of a request by itself',
    // Storing it twice stores the same; rows that wait for it are found meanwhile.
    statements: (ddl) => [
      ...ddl.addColumns('request_logs', [
        ['end_user', "LowCardinality(String) MATERIALIZED metadata['_user']"],
      ]),
      ddl.addIndex('request_logs', 'by_end_user', 'end_user TYPE bloom_filter GRANULARITY 1'),
      ddl.materialize('request_logs', ['COLUMN end_user', 'INDEX by_end_user']),
    ],
  },
  {
    version: 3,
    name: 'what a filter names and few rows have',
    statements: (ddl) => {
      const columns = [
        ...['api_key_id', 'user_id', 'config_id', 'virtual_key'],
        ...['provider', 'model', 'status', 'error_code', 'prompt_slug'],
      ];
      return [
        ...columns.map((column) =>
          ddl.addIndex('request_logs', `by_${column}`, `${column} TYPE bloom_filter GRANULARITY 1`),
        ),
        ddl.materialize(
          'request_logs',
          columns.map((column) => `INDEX by_${column}`),
        ),
      ];
    },
  },
  {
    version: 4,
    name: 'parameters that a provider was not sent',
    statements: (ddl) =>
      ddl.addColumns('request_logs', [['dropped_parameters', 'Array(LowCardinality(String))']]),
  },
  {
    version: 5,
    name: 'tiers of service',
    statements: (ddl) =>
      ddl.addColumns('request_logs', [['service_tier', 'LowCardinality(Nullable(String))']]),
  },
];

/** Makes the changes that were not made, in their order. One of a release that is newer than this is left alone. */
export async function makeChanges(client: ClickHouseClient, ddl: Ddl): Promise<void> {
  await client.command({ query: ddl.createChanges() });
  const answer = await client.query({ query: `SELECT version FROM ${CHANGES}`, format: 'JSONEachRow' });
  const made = new Set((await answer.json<{ version: number }>()).map(({ version }) => version));
  for (const { version, name, statements } of CHANGES_OF_TABLES) {
    if (made.has(version)) continue;
    for (const query of statements(ddl)) await client.command({ query });
    await client.insert({ table: CHANGES, values: [{ version, name }], format: 'JSONEachRow' });
  }
}
