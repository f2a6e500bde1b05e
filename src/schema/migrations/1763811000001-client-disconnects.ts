import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What becomes of an attempt under a virtual key whose client leaves. Null: the workspace decides. */
export class ClientDisconnects1763811000001 implements MigrationInterface {
  readonly name = 'ClientDisconnects1763811000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE virtual_keys ADD COLUMN on_client_disconnect text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE virtual_keys DROP COLUMN on_client_disconnect');
  }
}
