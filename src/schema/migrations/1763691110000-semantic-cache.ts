import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Vectors of cached questions, the score of a semantic hit in the log, and what API keys give their requests and alerts. */
export class SemanticCache1763691110000 implements MigrationInterface {
  readonly name = 'SemanticCache1763691110000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE request_logs ADD COLUMN cache_score real');
    await runner.query(
      'ALTER TABLE api_keys ADD COLUMN default_metadata jsonb, ADD COLUMN alert_emails text[]',
    );
    await runner.query(CACHED_VECTORS);
    await runner.query("SELECT protect_tenant_table('cached_vectors', 'organization_id', 'SELECT, DELETE')");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      DROP TABLE cached_vectors;
      ALTER TABLE api_keys DROP COLUMN default_metadata, DROP COLUMN alert_emails;
      ALTER TABLE request_logs DROP COLUMN cache_score`);
  }
}

/** Unlogged, as the answers are that they lead to. `room`: what the questions have in common that are compared. */
const CACHED_VECTORS = `
  CREATE UNLOGGED TABLE cached_vectors (
    organization_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    room bytea NOT NULL CHECK (octet_length(room) = 32),
    key bytea NOT NULL CHECK (octet_length(key) = 32),
    sealed bytea NOT NULL,
    kept_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, workspace_id, room, key)
  );
  ALTER TABLE cached_vectors ALTER COLUMN sealed SET STORAGE EXTERNAL;
  CREATE INDEX cached_vectors_newest ON cached_vectors (organization_id, workspace_id, room, kept_at);
  CREATE INDEX cached_vectors_by_end ON cached_vectors (expires_at);
  CREATE INDEX cached_vectors_by_age ON cached_vectors (kept_at)`;
