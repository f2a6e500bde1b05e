import type { RetentionDays } from '../../../common/settings/settings.js';

/** A ClickHouse table, independent of the cluster. */
export interface Table {
  readonly name: string;
  readonly engine: 'MergeTree' | 'AggregatingMergeTree' | 'ReplacingMergeTree';
  readonly columns: readonly (readonly [name: string, type: string])[];
  /** Columns computed by the table. They are never inserted, and `*` leaves them out. */
  readonly derived?: readonly (readonly [name: string, type: string, expression: string])[];
  readonly indexes: readonly string[];
  readonly partition: string;
  readonly order: readonly string[];
  /** The column that a row's age counts from, and the setting for how many days rows are kept; null when age alone removes none. */
  readonly expires: { readonly since: string; readonly kept: keyof RetentionDays } | null;
  /** The expression that spreads rows over shards. */
  readonly shardBy: string;
  /** Deviations from ClickHouse's defaults: https://clickhouse.com/docs/operations/settings/merge-tree-settings */
  readonly settings?: Readonly<Record<string, number>>;
}

/** Rows that one table derives from inserts into another. */
export interface View {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly select: (from: string) => string;
}
