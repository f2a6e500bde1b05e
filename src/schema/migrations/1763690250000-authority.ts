import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A key acts on the authority of the person whose it is, or who made it. A key that another key made acts on that of
 * the first key's maker, so the whole line down from a person names that person.
 */
export class Authority1763690250000 implements MigrationInterface {
  readonly name = 'Authority1763690250000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      WITH RECURSIVE line AS (
        SELECT id, coalesce(user_id, created_by_user_id) AS authority FROM api_keys
        WHERE coalesce(user_id, created_by_user_id) IS NOT NULL
        UNION
        SELECT key.id, line.authority FROM api_keys key JOIN line ON key.created_by_key_id = line.id
        WHERE coalesce(key.user_id, key.created_by_user_id) IS NULL
      )
      UPDATE api_keys SET created_by_user_id = line.authority FROM line
      WHERE api_keys.id = line.id AND api_keys.created_by_user_id IS NULL`);
    await runner.query(
      'CREATE INDEX api_keys_of_authority ON api_keys (organization_id, (coalesce(user_id, created_by_user_id))) WHERE deleted_at IS NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('DROP INDEX api_keys_of_authority');
  }
}
