import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What was answered to a request that carried an `Idempotency-Key`, so that its repetition gets the same. */
export class IdempotentAnswers1763690260000 implements MigrationInterface {
  readonly name = 'IdempotentAnswers1763690260000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      CREATE TABLE idempotent_answers (
        organization_id uuid NOT NULL REFERENCES organizations (id),
        caller_id uuid NOT NULL,
        key text NOT NULL,
        fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
        sealed_answer bytea,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (organization_id, caller_id, key)
      );
      CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created_at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('DROP TABLE idempotent_answers');
  }
}
