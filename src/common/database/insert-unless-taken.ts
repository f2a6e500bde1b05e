import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';

/**
 * Inserts a row unless a unique index says that there is one; answers whether it did. The index is the only judge that
 * cannot be wrong, and this way of asking it keeps the transaction alive.
 */
export async function insertUnlessTaken<T extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<T>,
  row: Partial<T>,
): Promise<boolean> {
  const inserted = await manager
    .createQueryBuilder()
    .insert()
    .into(entity)
    .values(row)
    .orIgnore()
    .returning('id')
    .execute();
  return (inserted.raw as readonly unknown[]).length > 0;
}
