import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Logs of calls that were made elsewhere: an inbox from which the background process stores them, and their mark. */
export class IngestedLogs1763691310000 implements MigrationInterface {
  readonly name = 'IngestedLogs1763691310000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE request_logs ADD COLUMN source text');
    await runner.query(INGESTED_LOGS);
    await runner.query("SELECT protect_tenant_table('ingested_logs', 'organization_id', 'SELECT, INSERT')");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('DROP TABLE ingested_logs; ALTER TABLE request_logs DROP COLUMN source');
  }
}

/** `closed` is the JSON of a closed frame of the spool, in bytes: a text may hold what no `text` of the database can. */
const INGESTED_LOGS = `
  CREATE TABLE ingested_logs (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    closed bytea NOT NULL,
    request_body bytea NOT NULL,
    response_body bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX ingested_logs_oldest ON ingested_logs (created_at)`;
