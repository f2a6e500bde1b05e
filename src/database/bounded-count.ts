import type { EntityManager, ObjectLiteral, SelectQueryBuilder } from 'typeorm';

/** Lists with more rows report this `total`: counting further would read rows that are never paged through. */
export const COUNT_MAX = 100_000;

/** The number of rows that a query finds, up to `COUNT_MAX`. */
export async function boundedCount<T extends ObjectLiteral>(
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
