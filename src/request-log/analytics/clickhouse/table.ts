import type { RetentionDays } from '../../../common/settings/settings.js';

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
