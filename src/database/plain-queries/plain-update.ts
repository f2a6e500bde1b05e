import { isDeepStrictEqual } from 'node:util';
import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { PlainQuery } from './plain-find.js';

/** A row as it is now, so that it can be told later what was changed of it, in documents too. */
export function remembered(row: ObjectLiteral): ObjectLiteral {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isDocument(value) ? structuredClone(value) : value]),
  );
}

/** Bytes and moments are replaced, never changed. */
const isDocument = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !(value instanceof Date) && !Buffer.isBuffer(value);

/** An update of the columns in which a row differs from what it was, which answers the new time of the change; null where it does not differ. */
export function plainUpdate(
  { driver }: DataSource,
  { columns, primaryColumns, updateDateColumn, tablePath }: EntityMetadata,
  row: ObjectLiteral,
  before: ObjectLiteral,
): PlainQuery | null {
  const changed = columns.filter(({ propertyName: name }) => !isDeepStrictEqual(row[name], before[name]));
  if (changed.length === 0) return null;
  const values = [...changed, ...primaryColumns].map((column): unknown =>
    driver.preparePersistentValue(row[column.propertyName], column),
  );
  const set = changed.map(({ databaseName }, index) => `"${databaseName}" = $${index + 1}`);
  const which = primaryColumns.map(
    ({ databaseName }, index) => `"${databaseName}" = $${changed.length + index + 1}`,
  );
  const at = updateDateColumn && `"${updateDateColumn.databaseName}"`;
  const touch = at ? [`${at} = CURRENT_TIMESTAMP`] : [];
  const returning = at ? ` RETURNING ${at} AS "${updateDateColumn?.propertyName ?? ''}"` : '';
  const text = `UPDATE "${tablePath}" SET ${[...set, ...touch].join(', ')} WHERE ${which.join(' AND ')}${returning}`;
  return { text, values };
}
