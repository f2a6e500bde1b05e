import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The role of tenants and the functions that put tables under row-level security.
 *
 * Administrative requests work as the role `gatehouse_tenant`, which owns nothing; a policy on each table of a tenant
 * shows it the rows of one organization. The owner of the tables and superusers pass the policies, so the gateway's
 * directories and the background process see every tenant, as they must.
 *
 * Each later migration calls `protect_tenant_table` for the tables that it creates. Where this login may not create
 * roles, the policies exist and bind nobody: `gatehouse doctor` reports it, and `SELECT protect_tenant_tables()`
 * completes the grants once the role exists.
 */
export class RowLevelSecurity1763800000001 implements MigrationInterface {
  readonly name = 'RowLevelSecurity1763800000001';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [ROLE, PROTECT_ONE, PROTECT_ALL]) await runner.query(statements);
  }

  /** The role stays: other databases of the server may use it. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION protect_tenant_tables();
      DROP FUNCTION protect_tenant_table(regclass, text, text);
    `);
  }
}

/** Roles belong to the whole server, where the migration of another database may create the same one at this moment. */
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
  END $$;
  DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'gatehouse_tenant') THEN
      EXECUTE format('GRANT USAGE ON SCHEMA %I TO gatehouse_tenant', current_schema());
    END IF;
  END $$`;

/**
 * Shows a table's rows to the role by organization only, and grants it `rights` there. An organization that is not
 * set, or is empty, shows no rows.
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
 * All tables of tenants, by the name of their column. Partitions are reached through their parents only. Tenants read
 * the request log, which the background process writes, and how far the rollups are, which is no secret. They add to
 * the audit trail and read it, and never change it.
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
