import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The audit trail, which can be added to and never changed, and the destinations that its records are forwarded to. */
export class Audit1763800000013 implements MigrationInterface {
  readonly name = 'Audit1763800000013';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [RECORDS, HEADS, FINAL, DESTINATIONS]) await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE audit_destinations, audit_heads, audit_records;
      DROP FUNCTION refuse_audit_change();
    `);
  }
}

/**
 * `actor_id` is null for callers without a key. `hash` chains a record to the one before; `seal` is a MAC over the
 * hash.
 */
const RECORDS = `
  CREATE TABLE audit_records (
    id              uuid PRIMARY KEY,
    seq             bigint NOT NULL,
    organization_id uuid NOT NULL REFERENCES organizations (id),
    workspace_id    uuid,
    actor_kind      text NOT NULL,
    actor_id        uuid,
    actor_name      text NOT NULL,
    user_id         uuid,
    action          text NOT NULL,
    target_type     text NOT NULL,
    target_id       text,
    at              timestamptz NOT NULL,
    ip              text NOT NULL,
    method          text NOT NULL,
    path            text NOT NULL,
    request         jsonb,
    before          jsonb,
    after           jsonb,
    outcome         text NOT NULL CHECK (outcome IN ('success', 'refused', 'failed')),
    status          integer NOT NULL,
    error_code      text,
    request_id      text NOT NULL,
    hash            bytea NOT NULL,
    seal            bytea,
    UNIQUE (organization_id, seq)
  );
  CREATE INDEX audit_records_of_organization ON audit_records (organization_id, at DESC);
  CREATE INDEX audit_records_of_request ON audit_records (organization_id, request_id);
  SELECT protect_tenant_table('audit_records', 'organization_id', 'SELECT, INSERT')`;

/** The end of each organization's chain; its row is locked while a record is added. */
const HEADS = `
  CREATE TABLE audit_heads (
    organization_id uuid PRIMARY KEY REFERENCES organizations (id),
    seq             bigint NOT NULL,
    hash            bytea NOT NULL,
    seal            bytea
  );
  SELECT protect_tenant_table('audit_heads', 'organization_id', 'SELECT, INSERT, UPDATE')`;

/** Binds the owner of the tables as well, whom no policy binds. */
const FINAL = `
  CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'Audit records cannot be changed or removed.' USING ERRCODE = 'insufficient_privilege';
  END $$;
  CREATE TRIGGER audit_records_are_final BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_records
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`;

/** The cursor of a destination is in its own row: `delivered_seq`. */
const DESTINATIONS = `
  CREATE TABLE audit_destinations (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name            text NOT NULL,
    url             text NOT NULL,
    sealed_secret   bytea,
    ca_certificate  text,
    is_enabled      boolean NOT NULL DEFAULT true,
    delivered_seq   bigint NOT NULL CHECK (delivered_seq >= 0),
    delivered_at    timestamptz,
    failures        integer NOT NULL DEFAULT 0,
    last_error      text,
    failing_since   timestamptz,
    next_try_at     timestamptz NOT NULL DEFAULT now(),
    leased_until    timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX audit_destinations_of_organization ON audit_destinations (organization_id, created_at DESC, id DESC);
  CREATE INDEX audit_destinations_due ON audit_destinations (next_try_at) WHERE is_enabled;
  SELECT protect_tenant_table('audit_destinations')`;
