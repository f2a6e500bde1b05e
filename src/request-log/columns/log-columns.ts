import { CLOSED_COLUMNS } from './closed-columns.js';
import type { LogColumn, NullableType } from './log-column.js';
import { OPENED_COLUMNS } from './opened-columns.js';

/**
 * The columns of a request. Everything that stores, reads or shows a request derives from these rows: the frames of the spool, COPY,
 * ClickHouse's table, the readers, filters, exports, sinks and the API. A new column is its row, a migration, and the code that determines
 * its value (gateway/recording).
 */
export const LOG_COLUMNS = { ...OPENED_COLUMNS, ...CLOSED_COLUMNS } as const satisfies Readonly<
  Record<string, LogColumn>
>;

export type LogColumns = typeof LOG_COLUMNS;
export type LogColumnName = keyof LogColumns;

export const LOG_COLUMN_NAMES = Object.keys(LOG_COLUMNS) as readonly LogColumnName[];

/** Names of the columns with a property. */
export type ColumnsWith<Use extends Partial<LogColumn>> = {
  [Name in LogColumnName]: LogColumns[Name] extends Use ? Name : never;
}[LogColumnName];

/** The columns that have a value for `use`. */
export const columnsWith = <Key extends keyof LogColumn>(
  use: Key,
): readonly ColumnsWith<{ readonly [Name in Key]: NonNullable<LogColumn[Key]> }>[] => {
  const hasUse = (
    name: LogColumnName,
  ): name is ColumnsWith<{ readonly [Name in Key]: NonNullable<LogColumn[Key]> }> =>
    (logColumn(name)[use] ?? null) !== null;
  return LOG_COLUMN_NAMES.filter(hasUse);
};

export const logColumn = (name: LogColumnName): LogColumn => LOG_COLUMNS[name];

/** The values of documents, by column. */
interface Documents {
  readonly metadata: Readonly<Record<string, string>>;
  readonly decisions: readonly string[];
  readonly hook_results: Readonly<Record<string, unknown>>;
}

type BaseOf<Type extends NullableType> = Type extends `${infer Base}?` ? Base : Type;

/** `Moment` and `Large`: how the reader represents times and integers of 64 bits. */
type StoredColumnValue<Name extends LogColumnName, Moment, Large> = Name extends keyof Documents
  ? Documents[Name]
  : LogColumns[Name] extends { readonly values: readonly (infer Value)[] }
    ? Value
    : {
        uuid: string;
        text: string;
        word: string;
        'text[]': readonly string[];
        timestamptz: Moment;
        int2: number;
        int4: number;
        int8: Large;
        float4: number;
        bool: boolean;
        jsonb: unknown;
      }[BaseOf<LogColumns[Name]['type']>];

/** The value of a column, null included where it may be null. */
export type ColumnValue<Name extends LogColumnName, Moment, Large> =
  StoredColumnValue<Name, Moment, Large> | (LogColumns[Name]['type'] extends `${string}?` ? null : never);
