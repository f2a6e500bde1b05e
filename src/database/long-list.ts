import type { EntityManager, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { type Page, totalFrom } from '../common/http/page.js';

/** Lists with more rows report this `total`: counting further would read rows that are never paged through. */
export const COUNT_MAX = 100_000;

/**
 * A page of a list that may have many rows, in descending order of the column `key`, and the number of all rows, up to `COUNT_MAX`. The
 * rows before the page are skipped in an index; only those of the page are read from the table. `query` has no order.
 */
export async function pageOfLongList<T extends ObjectLiteral>(
  manager: EntityManager,
  query: SelectQueryBuilder<T>,
  key: Extract<keyof T, string>,
  page: Page,
): Promise<[rows: T[], total: number]> {
  const column = `${query.alias}.${key}`;
  const found = await query
    .clone()
    .select(column, 'key')
    .orderBy(column, 'DESC')
    .offset(page.skip)
    .limit(page.take)
    .getRawMany<{ key: string }>();
  const rows =
    found.length === 0
      ? []
      : await query
          .clone()
          .andWhere(`${column} IN (:...keys)`, { keys: found.map((row) => row.key) })
          .orderBy(column, 'DESC')
          .getMany();
  const total = totalFrom(found.length, page) ?? (await boundedCount(manager, query));
  return [rows, Math.min(total, COUNT_MAX)];
}

async function boundedCount<T extends ObjectLiteral>(
  manager: EntityManager,
  query: SelectQueryBuilder<T>,
): Promise<number> {
  const [sql, parameters] = query.clone().select('1', 'one').limit(COUNT_MAX).getQueryAndParameters();
  const [counted] = await manager.query<{ total: number }[]>(
    `SELECT count(*)::int AS total FROM (${sql}) found`,
    parameters,
  );
  return counted?.total ?? 0;
}
