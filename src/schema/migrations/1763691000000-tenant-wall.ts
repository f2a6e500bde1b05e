import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Signed tokens; seals of the audit trail; and the second wall between tenants.
 *
 * The wall is a role that owns nothing (`gatehouse_tenant`) and a policy on every table of a tenant. Administrative
 * requests work as that role. Owner and superusers pass the policies, so the gateway's directories and the background
 * process see every tenant, as they must. Where roles cannot be made, the policies stand and nobody is bound by them:
 * `gatehouse doctor` tells it, and `SELECT protect_tenant_tables()` finishes the wall once the role is there.
 */
export class TenantWall1763691000000 implements MigrationInterface {
  readonly name = 'TenantWall1763691000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const statements of [
      TOKENS,
      CALLERS_WITHOUT_KEY,
      SEALS,
      AUDIT_SEARCH,
      ROLE,
      PROTECT_ONE,
      PROTECT_ALL,
    ])
      await runner.query(statements);
    await runner.query('SELECT protect_tenant_tables()');
  }

  /** The role stays: other databases of the server may use it. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(UNPROTECT);
    await runner.query(`
      DROP FUNCTION protect_tenant_tables();
      DROP FUNCTION protect_tenant_table(regclass, text, text);
      DROP INDEX audit_records_of_request;
      ALTER TABLE audit_records DROP COLUMN seal;
      ALTER TABLE audit_heads DROP COLUMN seal;
      DROP TABLE organization_jwt;
    `);
  }
}

/** `rules` are a `TokenRules`; `keys` those given inline, or the ones last fetched from `jwks_uri`. */
const TOKENS = `
  CREATE TABLE organization_jwt (
    organization_id uuid PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
    issuers text[] NOT NULL CHECK (cardinality(issuers) BETWEEN 1 AND 20),
    rules jsonb NOT NULL,
    jwks_uri text,
    keys jsonb,
    fetched_at timestamptz,
    tried_at timestamptz,
    problem text,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CHECK (jwks_uri IS NOT NULL OR keys IS NOT NULL)
  );
  CREATE INDEX organization_jwt_of_issuer ON organization_jwt USING gin (issuers)`;

const CALLERS_WITHOUT_KEY = `
  ALTER TABLE request_logs ALTER COLUMN api_key_id DROP NOT NULL;
  ALTER TABLE audit_records ALTER COLUMN actor_id DROP NOT NULL`;

/** Records from before have none and are not believed: nobody could tell them from ones that were slipped in. */
const SEALS = `
  ALTER TABLE audit_records ADD COLUMN seal bytea;
  ALTER TABLE audit_heads ADD COLUMN seal bytea`;

const AUDIT_SEARCH = 'CREATE INDEX audit_records_of_request ON audit_records (organization_id, request_id)';

/** Roles belong to the whole server, where another database may be making the same one at this moment. */
const ROLE = `
  DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'gatehouse_tenant') THEN
      BEGIN
        CREATE ROLE gatehouse_tenant NOLOGIN NOSUPERUSER NOBYPASSRLS;
      EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
      END;
    END IF;
    IF NOT pg_has_role(current_user, 'gatehouse_tenant', 'MEMBER') THEN
      GRANT gatehouse_tenant TO CURRENT_USER;
    END IF;
  EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
    RAISE NOTICE 'The role gatehouse_tenant cannot be made or used by this login.';
  END $$`;

/**
 * Shows a table's rows to the tenant role by organization only, and grants it \`rights\` there. A setting that is
 * missing or empty shows nothing.
 */
const PROTECT_ONE = `
  CREATE FUNCTION protect_tenant_table(
    name regclass, tenant_column text DEFAULT 'organization_id', rights text DEFAULT 'SELECT, INSERT, UPDATE, DELETE'
  ) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    kind text := (SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = name AND attname = tenant_column);
  BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('DROP POLICY IF EXISTS of_own_organization ON %s', name);
    EXECUTE format(
      'CREATE POLICY of_own_organization ON %s USING (%I = nullif(current_setting(''gatehouse.organization_id'', true), '''')::%s)',
      name, tenant_column, kind
    );
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'gatehouse_tenant') THEN
      EXECUTE format('REVOKE ALL ON %s FROM gatehouse_tenant', name);
      EXECUTE format('GRANT %s ON %s TO gatehouse_tenant', rights, name);
    END IF;
  END $$`;

/**
 * All tables of tenants, by the name of their column. Partitions are reached through their parents only. The request
 * log is read; its writer is the background process. How far the rollups are is nobody's secret. The audit trail can be added to and read, never changed.
 */
const PROTECT_ALL = `
  CREATE FUNCTION protect_tenant_tables() RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    tenant_table record;
  BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'gatehouse_tenant') THEN
      EXECUTE format('GRANT USAGE ON SCHEMA %I TO gatehouse_tenant', current_schema());
    END IF;
    PERFORM protect_tenant_table('organizations', 'id', 'SELECT, UPDATE');
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'gatehouse_tenant') THEN
      GRANT SELECT ON rollup_marks, rollup_metadata_keys, rollup_seals TO gatehouse_tenant;
    END IF;
    FOR tenant_table IN
      SELECT class.oid::regclass AS name, attribute.attname AS tenant_column, class.relname AS plain_name
      FROM pg_class class JOIN pg_attribute attribute ON attribute.attrelid = class.oid
      WHERE class.relnamespace = current_schema()::regnamespace AND class.relkind IN ('r', 'p')
        AND NOT class.relispartition AND NOT attribute.attisdropped
        AND attribute.attname IN ('organization_id', 'organisation_id')
    LOOP
      PERFORM protect_tenant_table(tenant_table.name, tenant_table.tenant_column, CASE
        WHEN tenant_table.plain_name = 'audit_records' THEN 'SELECT, INSERT'
        WHEN tenant_table.plain_name = 'audit_heads' THEN 'SELECT, INSERT, UPDATE'
        WHEN tenant_table.tenant_column = 'organisation_id' THEN 'SELECT'
        ELSE 'SELECT, INSERT, UPDATE, DELETE'
      END);
    END LOOP;
  END $$`;

const UNPROTECT = `
  DO $$
  DECLARE
    protected record;
  BEGIN
    FOR protected IN SELECT polrelid::regclass AS name FROM pg_policy WHERE polname = 'of_own_organization' LOOP
      EXECUTE format('DROP POLICY of_own_organization ON %s', protected.name);
      EXECUTE format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY', protected.name);
      IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'gatehouse_tenant') THEN
        EXECUTE format('REVOKE ALL ON %s FROM gatehouse_tenant', protected.name);
      END IF;
    END LOOP;
  END $$`;
