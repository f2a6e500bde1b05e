import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { isNullable, type LogColumn, postgresType } from '../../request-log/columns/log-column.js';
import { logColumn, type ColumnValue } from '../../request-log/columns/log-columns.js';
import { type LogRow, READ_COLUMNS, type ReadColumn } from '../../request-log/reading/log-row.js';
import { AN_ID } from '../dto-fields/fields.js';

/** The columns of a request in the API: times are ISO 8601, and integers are numbers. */
export type ShownColumns = { readonly [Name in ReadColumn]: ColumnValue<Name, string, number> };

const INTEGER = { type: 'integer' } as const;
const TYPES: Readonly<Record<ReturnType<typeof postgresType>, ApiPropertyOptions>> = {
  uuid: { type: String, format: 'uuid', example: AN_ID },
  text: { type: String },
  'text[]': { type: [String] },
  timestamptz: { type: String, format: 'date-time', example: '2030-01-31T12:00:00.000Z' },
  int2: INTEGER,
  int4: INTEGER,
  int8: INTEGER,
  float4: { type: Number },
  bool: { type: Boolean },
  jsonb: { type: Object },
  bytea: { type: String },
};

function propertyOf(column: LogColumn): ApiPropertyOptions {
  const { text, values, example, isList } = column;
  const nullable = isNullable(column);
  return {
    ...TYPES[postgresType(column)],
    ...(isList && { type: [String] }),
    ...(values && { enum: nullable ? [...values, null] : [...values] }),
    ...(nullable && { nullable, example: null }),
    ...(example !== undefined && { example }),
    description: text ?? '',
  } as ApiPropertyOptions;
}

/** A property that shows the same as a column of the request. */
export function ApiColumn(name: ReadColumn): PropertyDecorator {
  return ApiProperty(propertyOf(logColumn(name)));
}

class LogColumnFields {}
for (const name of READ_COLUMNS) ApiColumn(name)(LogColumnFields.prototype, name);

/** The base of a DTO with the columns of a request as properties. */
export const LogColumnsDto = LogColumnFields as new () => ShownColumns;

/** Integers of 64 bits are texts in rows. */
const READ: Readonly<Partial<Record<ReturnType<typeof postgresType>, (value: never) => unknown>>> = {
  timestamptz: (at: Date) => at.toISOString(),
  int8: Number,
};

const CONVERSIONS = READ_COLUMNS.map((name) => ({ name, read: READ[postgresType(logColumn(name))] }));

export function shownColumns(row: LogRow): ShownColumns {
  const shown: Record<string, unknown> = {};
  for (const { name, read } of CONVERSIONS) {
    const value = row[name];
    shown[name] = read && value !== null ? read(value as never) : value;
  }
  return shown as ShownColumns;
}
