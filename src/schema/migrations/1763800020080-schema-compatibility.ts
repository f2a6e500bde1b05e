import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The oldest release that can run on this schema. Later releases refuse to start when they are older than that. A migration that earlier
 * releases cannot run with raises it.
 */
export class SchemaCompatibility1763800020080 implements MigrationInterface {
  readonly name = 'SchemaCompatibility1763800020080';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      CREATE TABLE schema_compatibility (
        is_only        boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        oldest_release text NOT NULL
      );
      INSERT INTO schema_compatibility (oldest_release) VALUES ('0.1.0')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE schema_compatibility');
  }
}
