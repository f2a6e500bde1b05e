import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from '../build-index.js';

/** Deep pages of an audit log that is filtered by time skip records in this index, which has their order and their time. */
export class AuditPages1763800000015 implements MigrationInterface {
  readonly name = 'AuditPages1763800000015';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildIndex(runner, {
      name: 'audit_records_by_number',
      table: 'audit_records',
      columns: '(organization_id, seq DESC) INCLUDE (at)',
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX audit_records_by_number');
  }
}
