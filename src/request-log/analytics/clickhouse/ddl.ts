import type { Table, View } from './table.js';

/**
 * The text of the tables, for one server or for a cluster. On a cluster each table is a replicated one on every shard,
 * under a name that ends in `_local`, and a distributed one above them. `{shard}` and `{replica}` are macros of the
 * servers: https://clickhouse.com/docs/engines/table-engines/mergetree-family/replication
 */
export class Ddl {
  readonly #onCluster: string;

  constructor(private readonly cluster: string | undefined) {
    this.#onCluster = cluster === undefined ? '' : ` ON CLUSTER ${name(cluster)}`;
  }

  /** The table that holds rows. */
  stored(table: string): string {
    return this.cluster === undefined ? table : `${table}_local`;
  }

  create(table: Table): string[] {
    const stored = this.stored(table.name);
    const columns = table.columns.map(([column, type]) => `${column} ${type}`);
    for (const [column, type, expression] of table.derived ?? [])
      columns.push(`${column} ${type} MATERIALIZED ${expression}`);
    const rows = `CREATE TABLE IF NOT EXISTS ${stored}${this.#onCluster} (
      ${[...columns, ...table.indexes].join(',\n      ')}
    ) ENGINE = ${this.#engine(table.engine)} PARTITION BY ${table.partition} ORDER BY (${table.order.join(', ')})
    SETTINGS ${Object.entries({ ...this.#settings(), ...table.settings })
      .map(([setting, value]) => `${setting} = ${value}`)
      .join(', ')}`;
    if (this.cluster === undefined) return [rows];
    const above = `CREATE TABLE IF NOT EXISTS ${table.name}${this.#onCluster} AS ${stored}
      ENGINE = Distributed(${name(this.cluster)}, currentDatabase(), ${stored}, ${table.shardBy})`;
    return [rows, above];
  }

  /** Adds what a table of an earlier release lacks. Above a cluster's tables the distributed one gets it too, after them. */
  addColumns(table: string, columns: Table['columns']): string[] {
    const added = columns.map(([column, type]) => `ADD COLUMN IF NOT EXISTS ${column} ${type}`).join(', ');
    const tables = this.cluster === undefined ? [table] : [this.stored(table), table];
    return tables.map((each) => `ALTER TABLE ${each}${this.#onCluster} ${added}`);
  }

  /** New rows have it at once. */
  addIndex(table: string, index: string, definition: string): string {
    return `ALTER TABLE ${this.stored(table)}${this.#onCluster} ADD INDEX IF NOT EXISTS ${index} ${definition}`;
  }

  /** Stores derived columns and indexes (`COLUMN a`, `INDEX b`) also for the rows that were there before, in the background. Till then reading does without. */
  materialize(table: string, parts: readonly string[]): string {
    const stored = parts.map((part) => `MATERIALIZE ${part}`).join(', ');
    return `ALTER TABLE ${this.stored(table)}${this.#onCluster} ${stored}`;
  }

  /** Which changes of the tables were made. All servers of a cluster share one such list. */
  createChanges(): string {
    const engine =
      this.cluster === undefined
        ? 'MergeTree'
        : `ReplicatedMergeTree('/clickhouse/tables/{database}/{table}', '{shard}_{replica}')`;
    return `CREATE TABLE IF NOT EXISTS ${CHANGES}${this.#onCluster} (version UInt32, name String, made_at DateTime('UTC') DEFAULT now())
      ENGINE = ${engine} ORDER BY version`;
  }

  /** Removes a day, of all. It is gone when the statement is. */
  dropDay(table: string, day: string): string {
    return `ALTER TABLE ${this.stored(table)}${this.#onCluster} DROP PARTITION ${day}`;
  }

  /** Removes rows of a day. ClickHouse writes the parts of that day again, in the background. */
  deleteOfDay(table: string, day: string, condition: string): string {
    return `ALTER TABLE ${this.stored(table)}${this.#onCluster} DELETE IN PARTITION ${day} WHERE ${condition}`;
  }

  view({ name: view, from, to, select }: View): string {
    return `CREATE MATERIALIZED VIEW IF NOT EXISTS ${view}${this.#onCluster} TO ${this.stored(to)} AS
      ${select(this.stored(from))}`;
  }

  /** Keeps rows for so many days; indefinitely with null. Parts are dropped whole. */
  expire(table: Table, days: number | null): string {
    const change =
      days === null ? 'REMOVE TTL' : `MODIFY TTL ${table.expires?.since ?? ''} + INTERVAL ${days} DAY`;
    return `ALTER TABLE ${this.stored(table.name)}${this.#onCluster} ${change}`;
  }

  #engine(engine: Table['engine']): string {
    return this.cluster === undefined
      ? engine
      : `Replicated${engine}('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')`;
  }

  #settings(): Readonly<Record<string, number>> {
    return this.cluster === undefined
      ? { ttl_only_drop_parts: 1, non_replicated_deduplication_window: TOKENS }
      : {
          ttl_only_drop_parts: 1,
          replicated_deduplication_window: TOKENS,
          replicated_deduplication_window_seconds: WEEK_S,
        };
  }
}

/** The table of the changes that were made. */
export const CHANGES = 'gatehouse_changes';

/** How many inserts later a repeated one is still known. */
const TOKENS = 10_000;
const WEEK_S = 604_800;

const name = (text: string): string => `\`${text.replaceAll('`', '')}\``;
