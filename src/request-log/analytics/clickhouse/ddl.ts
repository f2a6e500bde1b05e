import type { Table, View } from './table.js';

/**
 * The SQL of the tables, for one server or a cluster. On a cluster each table is replicated on every shard, under a name that ends in
 * `_local`, below a distributed table. `{shard}` and `{replica}` are macros of the servers:
 * https://clickhouse.com/docs/engines/table-engines/mergetree-family/replication
 */
export class Ddl {
  private readonly onCluster: string;

  constructor(private readonly cluster: string | undefined) {
    this.onCluster = cluster === undefined ? '' : ` ON CLUSTER ${name(cluster)}`;
  }

  /** The name of the table that holds the rows. */
  stored(table: string): string {
    return this.cluster === undefined ? table : `${table}_local`;
  }

  create(table: Table): string[] {
    const stored = this.stored(table.name);
    const columns = table.columns.map(([column, type]) => `${column} ${type}`);
    for (const [column, type, expression] of table.derived ?? [])
      columns.push(`${column} ${type} MATERIALIZED ${expression}`);
    const rows = `CREATE TABLE IF NOT EXISTS ${stored}${this.onCluster} (
      ${[...columns, ...table.indexes].join(',\n      ')}
    ) ENGINE = ${this.engine(table.engine)} PARTITION BY ${table.partition} ORDER BY (${table.order.join(', ')})
    SETTINGS ${Object.entries({ ...this.settings(), ...table.settings })
      .map(([setting, value]) => `${setting} = ${value}`)
      .join(', ')}`;
    if (this.cluster === undefined) return [rows];
    const above = `CREATE TABLE IF NOT EXISTS ${table.name}${this.onCluster} AS ${stored}
      ENGINE = Distributed(${name(this.cluster)}, currentDatabase(), ${stored}, ${table.shardBy})`;
    return [rows, above];
  }

  /** Adds the columns that a table of an earlier release lacks. On a cluster the distributed table follows the local ones. */
  addColumns(table: string, columns: Table['columns']): string[] {
    const added = columns.map(([column, type]) => `ADD COLUMN IF NOT EXISTS ${column} ${type}`).join(', ');
    const tables = this.cluster === undefined ? [table] : [this.stored(table), table];
    return tables.map((each) => `ALTER TABLE ${each}${this.onCluster} ${added}`);
  }

  /** New rows are indexed at once. */
  addIndex(table: string, index: string, definition: string): string {
    return `ALTER TABLE ${this.stored(table)}${this.onCluster} ADD INDEX IF NOT EXISTS ${index} ${definition}`;
  }

  /**
   * Stores derived columns and indexes (`COLUMN a`, `INDEX b`) for existing rows too, in the background. Reads work without them until
   * then.
   */
  materialize(table: string, parts: readonly string[]): string {
    const stored = parts.map((part) => `MATERIALIZE ${part}`).join(', ');
    return `ALTER TABLE ${this.stored(table)}${this.onCluster} ${stored}`;
  }

  /** The table of applied changes. All servers of a cluster share it. */
  createChanges(): string {
    const engine =
      this.cluster === undefined
        ? 'MergeTree'
        : `ReplicatedMergeTree('/clickhouse/tables/{database}/{table}', '{shard}_{replica}')`;
    return `CREATE TABLE IF NOT EXISTS ${CHANGES}${this.onCluster} (version UInt32, name String, made_at DateTime('UTC') DEFAULT now())
      ENGINE = ${engine} ORDER BY version`;
  }

  /** Removes all rows of a day. They are gone when the statement returns. */
  dropDay(table: string, day: string): string {
    return `ALTER TABLE ${this.stored(table)}${this.onCluster} DROP PARTITION ${day}`;
  }

  /** Removes some rows of a day. ClickHouse rewrites that day's parts in the background. */
  deleteOfDay(table: string, day: string, condition: string): string {
    return `ALTER TABLE ${this.stored(table)}${this.onCluster} DELETE IN PARTITION ${day} WHERE ${condition}`;
  }

  view({ name: view, from, to, select }: View): string {
    return `CREATE MATERIALIZED VIEW IF NOT EXISTS ${view}${this.onCluster} TO ${this.stored(to)} AS
      ${select(this.stored(from))}`;
  }

  /** From now on the view computes its rows in the given form; stored rows stay. https://clickhouse.com/docs/sql-reference/statements/alter/view */
  replaceView({ name: view, from, select }: View): string {
    return `ALTER TABLE ${view}${this.onCluster} MODIFY QUERY ${select(this.stored(from))}`;
  }

  /** Keeps rows for this many days; indefinitely with null. Parts are dropped whole. */
  expire(table: Table, days: number | null): string {
    const change =
      days === null ? 'REMOVE TTL' : `MODIFY TTL ${table.expires?.since ?? ''} + INTERVAL ${days} DAY`;
    return `ALTER TABLE ${this.stored(table.name)}${this.onCluster} ${change}`;
  }

  private engine(engine: Table['engine']): string {
    return this.cluster === undefined
      ? engine
      : `Replicated${engine}('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')`;
  }

  private settings(): Readonly<Record<string, number>> {
    return this.cluster === undefined
      ? { ttl_only_drop_parts: 1, non_replicated_deduplication_window: TOKENS }
      : {
          ttl_only_drop_parts: 1,
          replicated_deduplication_window: TOKENS,
          replicated_deduplication_window_seconds: WEEK_S,
        };
  }
}

/** The table of applied changes. */
export const CHANGES = 'gatehouse_changes';

/** For how many later inserts a token is remembered. */
const TOKENS = 10_000;
const WEEK_S = 604_800;

const name = (text: string): string => `\`${text.replaceAll('`', '')}\``;
