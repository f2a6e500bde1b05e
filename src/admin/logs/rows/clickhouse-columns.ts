import type { LogRow } from '../../../request-log/reading/log-row.js';
import type { Columns } from '../../../request-log/analytics/clickhouse/clickhouse.js';
import { NO_ID } from '../../../request-log/analytics/clickhouse/expressions.js';
import type { StoredColumn } from './log-rows.js';

/** Representation of a column in ClickHouse, if it is not the value itself. */
interface ClickhouseColumnFormat {
  readonly sql?: string;
  readonly read?: (value: unknown) => unknown;
}

/** Integers that a JavaScript number may not hold. */
const ofText = (column: string): ClickhouseColumnFormat => ({ sql: `toString(${column})` });
const ofDocument = (sql: string): ClickhouseColumnFormat => ({
  sql,
  read: (text) => (text === null ? null : (JSON.parse(text as string) as unknown)),
});

const FORMS: Readonly<Partial<Record<StoredColumn, ClickhouseColumnFormat>>> = {
  created_at: { sql: 'toUnixTimestamp64Milli(created_at)', read: (ms) => new Date(ms as number) },
  at: { sql: 'created_at' },
  workspace_id: { sql: `nullIf(workspace_id, ${NO_ID})` },
  request_bytes: ofText('request_bytes'),
  response_bytes: ofText('response_bytes'),
  cost_nano_usd: ofText('cost_nano_usd'),
  saved_nano_usd: ofText('saved_nano_usd'),
  decisions: ofDocument('decisions'),
  hook_results: ofDocument('hook_results'),
  // A list cannot be null there, and empty lists are never stored.
  dropped_parameters: { read: (names) => ((names as readonly string[]).length > 0 ? names : null) },
  // The same for a map.
  metadata: {
    sql: 'if(has_metadata, [metadata], [])',
    read: (found) => (found as readonly unknown[])[0] ?? null,
  },
};

export const selected = (columns: readonly StoredColumn[]): string =>
  [...new Set(columns)]
    .map((column) => {
      const sql = FORMS[column]?.sql;
      return sql === undefined ? column : `${sql} AS ${column}`;
    })
    .join(', ');

/** Returns rows as PostgreSQL would. An export reads millions of them, so all have one hidden class and nothing is looked up per row. */
export function rowsOf<Column extends StoredColumn>(
  columns: readonly Column[],
  stored: Columns<Column>,
): readonly Pick<LogRow, Column>[] {
  const forms = columns.map((column) => ({
    column,
    values: stored.data[column] ?? [],
    read: FORMS[column]?.read,
  }));
  return Array.from({ length: stored.rows }, (_, index) => {
    const row: Record<string, unknown> = {};
    for (const { column, values, read } of forms) row[column] = read ? read(values[index]) : values[index];
    return row as Pick<LogRow, Column>;
  });
}
