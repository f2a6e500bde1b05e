import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Responses of the response cache, and the vectors by which the semantic cache finds them.
 *
 * Unlogged: losing a row costs one request, and writing the WAL would slow down every request. PostgreSQL empties such a table after a
 * crash and never shows part of a row (https://www.postgresql.org/docs/current/sql-createtable.html). Sealed bytes do not compress, so
 * TOAST need not try; CREATE TABLE can declare this from PostgreSQL 16 on, and 14 is supported.
 */
export class ResponseCache1763800000014 implements MigrationInterface {
  readonly name = 'ResponseCache1763800000014';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [ANSWERS, VECTORS]) await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE cached_vectors, cached_answers');
  }
}

const ANSWERS = `
  CREATE UNLOGGED TABLE cached_answers (
    organization_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    key             bytea NOT NULL CHECK (octet_length(key) = 32),
    sealed          bytea NOT NULL,
    kept_at         timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, workspace_id, key)
  );
  ALTER TABLE cached_answers ALTER COLUMN sealed SET STORAGE EXTERNAL;
  CREATE INDEX cached_answers_by_end ON cached_answers (expires_at);
  CREATE INDEX cached_answers_by_age ON cached_answers (kept_at);
  SELECT protect_tenant_table('cached_answers', 'organization_id', 'SELECT, DELETE')`;

/** `room`: the namespace of prompts that are compared with each other. */
const VECTORS = `
  CREATE UNLOGGED TABLE cached_vectors (
    organization_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    room            bytea NOT NULL CHECK (octet_length(room) = 32),
    key             bytea NOT NULL CHECK (octet_length(key) = 32),
    sealed          bytea NOT NULL,
    kept_at         timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, workspace_id, room, key)
  );
  ALTER TABLE cached_vectors ALTER COLUMN sealed SET STORAGE EXTERNAL;
  CREATE INDEX cached_vectors_newest ON cached_vectors (organization_id, workspace_id, room, kept_at);
  CREATE INDEX cached_vectors_by_end ON cached_vectors (expires_at);
  CREATE INDEX cached_vectors_by_age ON cached_vectors (kept_at);
  SELECT protect_tenant_table('cached_vectors', 'organization_id', 'SELECT, DELETE')`;
