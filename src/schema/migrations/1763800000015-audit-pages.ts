import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Deep pages of an audit log that is filtered by time skip records in this index, which has their order and their time. */
export class AuditPages1763800000015 implements MigrationInterface {
  readonly name = 'AuditPages1763800000015';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'CREATE INDEX audit_records_by_number ON audit_records (organization_id, seq DESC) INCLUDE (at)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX audit_records_by_number');
  }
}
