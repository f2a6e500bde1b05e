/** How PostgreSQL stores a value, and how COPY writes it: store/copy-binary.ts. */
export type ColumnType =
  | 'uuid'
  | 'text'
  | 'text[]'
  | 'timestamptz'
  | 'int2'
  | 'int4'
  | 'int8'
  | 'float4'
  | 'bool'
  | 'jsonb'
  | 'bytea';

/** A type of the request log: `word` is a text with few different values. */
type StoredType = Exclude<ColumnType, 'bytea'> | 'word';

/** `?` marks a column that may be null. */
export type NullableType = StoredType | `${StoredType}?`;

/** Type of an exported value. `json` is a JSON value in JSON Lines and JSON text in a cell. */
export type ExportType = 'text' | 'whole' | 'number' | 'truth' | 'time' | 'json';

/** What is known of a column beside its type. */
interface ColumnUse {
  /** Position in the frame that opens an exchange; see spool/frame-values.ts. That list is complete: new columns have `closed`. */
  readonly opened?: number;
  /**
   * Position in the frame that closes an exchange. A new column has the next free one; none is used twice. Columns without a position are
   * computed when the row is stored.
   */
  readonly closed?: number;
  /** Most records lack the value, so it is an optional property of the record. */
  readonly isRare?: true;
  /** Type in exports, under the column's own name. Absent: not exported under that name. */
  readonly exported?: ExportType;
  /** Sinks receive it. */
  readonly isSent?: true;
  /** A filter of this name selects requests by the value. The text completes "Includes requests by …". */
  readonly filter?: string;
  /** The type in ClickHouse, if it does not follow from the column's type. */
  readonly clickhouse?: string;
  /** Every possible value. */
  readonly values?: readonly string[];
  /** The document is a list of texts; default: an object. */
  readonly isList?: true;
  readonly example?: unknown;
}

/** A column of `request_logs` in both stores. */
export interface LogColumn extends ColumnUse {
  readonly type: NullableType;
  /** Its description in the API; null if the API does not show it. */
  readonly text: string | null;
  /** Analytics counts it or filters use it; other columns are only displayed. */
  readonly isCounted: boolean;
}

type ColumnText = LogColumn['text'];

const columnBuilder =
  <const Counted extends boolean>(isCounted: Counted) =>
  <const Type extends NullableType, const Text extends ColumnText, const Use extends ColumnUse>(
    type: Type,
    text: Text,
    use: Use,
  ) =>
    ({ type, text, isCounted, ...use }) as const;

/** A column that analytics counts or filters use. */
export const countedColumn = columnBuilder(true);

/** A column that is only displayed. */
export const displayedColumn = columnBuilder(false);

export const isNullable = ({ type }: Pick<LogColumn, 'type'>): boolean => type.endsWith('?');

const withoutMark = (type: NullableType): StoredType => type.replace('?', '') as StoredType;

export function postgresType({ type }: Pick<LogColumn, 'type'>): ColumnType {
  const stored = withoutMark(type);
  return stored === 'word' ? 'text' : stored;
}

const CLICKHOUSE_TYPES: Readonly<Record<Exclude<StoredType, 'word'>, string>> = {
  uuid: 'UUID',
  text: 'String',
  'text[]': 'Array(LowCardinality(String))',
  timestamptz: "DateTime64(6, 'UTC')",
  int2: 'Int16',
  int4: 'Int32',
  int8: 'Int64',
  float4: 'Float32',
  bool: 'Bool',
  jsonb: 'String',
};

/** Lists cannot be null in ClickHouse. */
export function clickHouseType(column: Pick<LogColumn, 'type' | 'clickhouse'>): string {
  if (column.clickhouse !== undefined) return column.clickhouse;
  const stored = withoutMark(column.type);
  const isNull = isNullable(column);
  if (stored === 'word') return `LowCardinality(${isNull ? 'Nullable(String)' : 'String'})`;
  const type = CLICKHOUSE_TYPES[stored];
  return isNull && stored !== 'text[]' ? `Nullable(${type})` : type;
}
