import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Requests that were refused for their credential (src/auth/identity/recent-refusals.ts): a row for each address, end of the credential and
 * reason. Anybody can cause rows, so their number is bounded by the function that writes them.
 */
export class RefusedCredentials1763800020062 implements MigrationInterface {
  readonly name = 'RefusedCredentials1763800020062';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(TABLE);
    await runner.query(FUNCTION);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION note_refused_credentials(jsonb, bigint, integer);
      DELETE FROM tenant_grants WHERE table_name = 'refused_credentials';
      DROP TABLE refused_credentials`);
  }
}

/** `has_known_key`: a key of the organization, which has ended, was presented in whole. An empty address: all those without a row. */
const TABLE = `
  CREATE TABLE refused_credentials (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    has_known_key   boolean NOT NULL,
    api_key_id      uuid,
    address         text NOT NULL CHECK (length(address) <= 64),
    last_four       text NOT NULL CHECK (length(last_four) <= 4),
    reason          text NOT NULL CHECK (length(reason) <= 32),
    path            text NOT NULL CHECK (length(path) <= 128),
    requests        bigint NOT NULL,
    first_at        timestamptz NOT NULL,
    last_at         timestamptz NOT NULL,
    UNIQUE (organization_id, has_known_key, reason, address, last_four)
  );
  CREATE INDEX refused_credentials_newest ON refused_credentials (organization_id, last_at DESC, id DESC);
  SELECT protect_tenant_table('refused_credentials', 'organization_id', 'SELECT')`;

/**
 * Adds notes, and then moves the oldest rows beyond `most` into the row without an address, so that sums stay complete. The bound holds for
 * rows of ended keys and for all others of an organization separately: made-up keys never displace real ones. Requests whose credential names
 * no organization belong to the one that set up the instance.
 *
 * One writer at a time: two would not see each other's rows and exceed the bound together.
 */
const FUNCTION = `
  CREATE FUNCTION note_refused_credentials(notes jsonb, lock_number bigint, most integer) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(lock_number);
    WITH given AS (
      SELECT organization.id AS organization_id, note.organization_id IS NOT NULL AS has_known_key, note.api_key_id,
        note.address, note.last_four, note.reason, note.path, note.requests,
        to_timestamp(note.first_at / 1000.0) AS first_at, to_timestamp(note.last_at / 1000.0) AS last_at
      FROM jsonb_to_recordset(notes) AS note (
        organization_id uuid, api_key_id uuid, address text, last_four text, reason text, path text,
        requests bigint, first_at float8, last_at float8
      )
      JOIN organizations organization ON organization.id = coalesce(
        note.organization_id, (SELECT id FROM organizations ORDER BY created_at, id LIMIT 1)
      )
    )
    INSERT INTO refused_credentials AS known
    SELECT gen_random_uuid(), given.* FROM given
    ON CONFLICT (organization_id, has_known_key, reason, address, last_four) DO UPDATE SET
      requests = known.requests + EXCLUDED.requests,
      api_key_id = EXCLUDED.api_key_id,
      path = CASE WHEN EXCLUDED.last_at >= known.last_at THEN EXCLUDED.path ELSE known.path END,
      first_at = least(known.first_at, EXCLUDED.first_at),
      last_at = greatest(known.last_at, EXCLUDED.last_at);

    WITH gone AS (
      DELETE FROM refused_credentials WHERE id IN (
        SELECT id FROM (
          SELECT id, row_number() OVER (PARTITION BY organization_id, has_known_key ORDER BY last_at DESC, id) AS place
          FROM refused_credentials WHERE address <> ''
        ) AS ranked WHERE place > most
      ) RETURNING *
    )
    INSERT INTO refused_credentials AS known
    SELECT gen_random_uuid(), organization_id, has_known_key, NULL, '', '', reason, '', sum(requests), min(first_at), max(last_at)
    FROM gone GROUP BY organization_id, has_known_key, reason
    ON CONFLICT (organization_id, has_known_key, reason, address, last_four) DO UPDATE SET
      requests = known.requests + EXCLUDED.requests,
      first_at = least(known.first_at, EXCLUDED.first_at),
      last_at = greatest(known.last_at, EXCLUDED.last_at);
  END
  $$`;
