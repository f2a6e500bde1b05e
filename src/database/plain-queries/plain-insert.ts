import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { PlainQuery } from './plain-find.js';

/**
 * An insert of one row that answers, under the names of the properties, what the database put into columns that the row leaves out. Null
 * for a row that is more than values.
 */
export function plainInsert(
  { driver }: DataSource,
  { columns, tablePath }: EntityMetadata,
  row: ObjectLiteral,
): PlainQuery | null {
  if (Object.values(row).some((value) => typeof value === 'function')) return null;
  const given = columns.filter(({ propertyName }) => row[propertyName] !== undefined);
  const names = given.map(({ databaseName }) => `"${databaseName}"`);
  const left = columns
    .filter((column) => column.isSelect && !given.includes(column))
    .map(({ databaseName, propertyName }) => `"${databaseName}" AS "${propertyName}"`);
  const returning = left.length > 0 ? ` RETURNING ${left.join(', ')}` : '';
  return {
    text: `INSERT INTO "${tablePath}" (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})${returning}`,
    values: given.map((column): unknown => driver.preparePersistentValue(row[column.propertyName], column)),
  };
}
