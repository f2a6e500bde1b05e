import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Audit records keep the query and some headers of the request. Earlier records have none, and stay valid links of their chain. */
export class AuditedRequests1763800020040 implements MigrationInterface {
  readonly name = 'AuditedRequests1763800020040';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE audit_records ADD COLUMN query_params jsonb, ADD COLUMN request_headers jsonb',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE audit_records DROP COLUMN query_params, DROP COLUMN request_headers');
  }
}
