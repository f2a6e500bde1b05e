import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Where audit records are forwarded to. The cursor of each destination is its own row: `delivered_seq`. */
export class AuditDestinations1763691500000 implements MigrationInterface {
  readonly name = 'AuditDestinations1763691500000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(DESTINATIONS);
    await runner.query("SELECT protect_tenant_table('audit_destinations')");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('DROP TABLE audit_destinations');
  }
}

const DESTINATIONS = `
  CREATE TABLE audit_destinations (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name text NOT NULL,
    url text NOT NULL,
    sealed_secret bytea,
    ca_certificate text,
    is_enabled boolean NOT NULL DEFAULT true,
    delivered_seq bigint NOT NULL CHECK (delivered_seq >= 0),
    delivered_at timestamptz,
    failures integer NOT NULL DEFAULT 0,
    last_error text,
    failing_since timestamptz,
    next_try_at timestamptz NOT NULL DEFAULT now(),
    leased_until timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX audit_destinations_of_organization ON audit_destinations (organization_id, created_at DESC, id DESC);
  CREATE INDEX audit_destinations_due ON audit_destinations (next_try_at) WHERE is_enabled`;
