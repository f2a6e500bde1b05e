import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The first id of that name in a record. What is no JSON is read as well as what is: a letter may be any bytes. */
const idIn = (name: string): string =>
  `substring(encode(record, 'escape') FROM '"${name}":"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"')::uuid`;

/** Whose a record was that the tables refused, so that it is kept for no longer than its bodies would have been. Null where it does not say. */
export class DeadLettersHaveOwners1763730000001 implements MigrationInterface {
  readonly name = 'DeadLettersHaveOwners1763730000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(
      'ALTER TABLE request_log_dead_letters ADD COLUMN organisation_id uuid, ADD COLUMN workspace_id uuid',
    );
    await runner.query(
      `UPDATE request_log_dead_letters SET organisation_id = ${idIn('organisation_id')}, workspace_id = ${idIn('workspace_id')}`,
    );
    await runner.query(
      "SELECT protect_tenant_table('request_log_dead_letters', 'organisation_id', 'SELECT')",
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('DROP POLICY of_own_organization ON request_log_dead_letters');
    await runner.query('ALTER TABLE request_log_dead_letters DISABLE ROW LEVEL SECURITY');
    await runner.query(
      'ALTER TABLE request_log_dead_letters DROP COLUMN organisation_id, DROP COLUMN workspace_id',
    );
  }
}
