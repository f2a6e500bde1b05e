import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Every organization has a head of its chain from its first moment, at number 0: one without a head has lost its records. */
export class AuditHeads1763800000036 implements MigrationInterface {
  readonly name = 'AuditHeads1763800000036';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      INSERT INTO audit_heads (organization_id, seq, hash) SELECT id, 0, '' FROM organizations ON CONFLICT DO NOTHING`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DELETE FROM audit_heads WHERE seq = 0');
  }
}
