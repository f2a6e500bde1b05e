import type { EntityManager, ObjectLiteral, SelectQueryBuilder } from 'typeorm';

/** A list with more rows than this has this `total`: counting further would read rows that nobody pages through. */
export const COUNT_MAX = 100_000;

/** How many rows a query finds, up to `COUNT_MAX`. */
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
