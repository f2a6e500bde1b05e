import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The answers that the response cache keeps. */
export class CachedAnswers1763691100000 implements MigrationInterface {
  readonly name = 'CachedAnswers1763691100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(CACHED_ANSWERS);
    await runner.query("SELECT protect_tenant_table('cached_answers', 'organization_id', 'SELECT, DELETE')");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('DROP TABLE cached_answers');
  }
}

/**
 * Unlogged: losing what is here costs a request, and writing it twice would cost all of them. PostgreSQL empties such a
 * table after a crash and never shows a part of a row (https://www.postgresql.org/docs/current/sql-createtable.html).
 * Sealed bytes do not compress.
 */
const CACHED_ANSWERS = `
  CREATE UNLOGGED TABLE cached_answers (
    organization_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    key bytea NOT NULL CHECK (octet_length(key) = 32),
    sealed bytea NOT NULL,
    kept_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, workspace_id, key)
  );
  ALTER TABLE cached_answers ALTER COLUMN sealed SET STORAGE EXTERNAL;
  CREATE INDEX cached_answers_by_end ON cached_answers (expires_at);
  CREATE INDEX cached_answers_by_age ON cached_answers (kept_at)`;
