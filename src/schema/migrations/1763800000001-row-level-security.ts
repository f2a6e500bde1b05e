import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The role of tenants and the functions that put tables under row-level security.
 *
 * Administrative requests run as the role `gatehouse_tenant`, which owns nothing; a policy on each tenant table shows it the rows of one
 * organization. Policies do not apply to the tables' owner and superusers, so the gateway's directories and the background process see
 * every tenant, as they must.
 *
 * Each migration calls `protect_tenant_table` for the tables of tenants that it creates, and `grant_to_tenants` for others that
 * administrative requests need. If this login may not create roles, the policies have no effect: `gatehouse doctor` reports it, and `SELECT
 * protect_tenant_tables()` makes all grants once the role exists.
 */
export class RowLevelSecurity1763800000001 implements MigrationInterface {
  readonly name = 'RowLevelSecurity1763800000001';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [ROLE, GRANTS, PROTECT]) await runner.query(statements);
  }

  /** The role stays: other databases of the server may use it. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION protect_tenant_table(regclass, text, text);
      DROP FUNCTION protect_tenant_tables();
      DROP FUNCTION grant_to_tenants(regclass, text);
      DROP TABLE tenant_grants;
    `);
  }
}

/** Roles belong to the whole server, where the migration of another database may be creating the same one. */
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

/** The role's rights per table, so that the grants can be repeated. A table without a row is closed to it. */
const GRANTS = `
  CREATE TABLE tenant_grants (
    table_name text PRIMARY KEY,
    rights     text NOT NULL
  );

  CREATE FUNCTION grant_to_tenants(name regclass, rights text) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO tenant_grants (table_name, rights) VALUES (name::text, grant_to_tenants.rights)
    ON CONFLICT (table_name) DO UPDATE SET rights = EXCLUDED.rights;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'gatehouse_tenant') THEN
      EXECUTE format('GRANT USAGE ON SCHEMA %I TO gatehouse_tenant', current_schema());
      EXECUTE format('REVOKE ALL ON %s FROM gatehouse_tenant', name);
      EXECUTE format('GRANT %s ON %s TO gatehouse_tenant', grant_to_tenants.rights, name);
    END IF;
  END $$;

  CREATE FUNCTION protect_tenant_tables() RETURNS void LANGUAGE sql AS $$
    SELECT grant_to_tenants(to_regclass(table_name), rights) FROM tenant_grants WHERE to_regclass(table_name) IS NOT NULL
  $$`;

/**
 * Shows a table's rows to the role by organization only, and grants it `rights` there. Without a current organization, no rows are visible.
 * Partitions are accessible through their parents only.
 */
const PROTECT = `
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
    PERFORM grant_to_tenants(name, rights);
  END $$`;
