import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tenants, people, keys, virtual keys and the audit trail.
 *
 * A row that belongs to a workspace names organization and workspace in one foreign key, so that no row can name
 * a workspace of another organization.
 */
export class Foundation1763690000000 implements MigrationInterface {
  readonly name = 'Foundation1763690000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const statements of [INSTALLATION, TENANTS, PEOPLE, API_KEYS, VIRTUAL_KEYS, AUDIT, AUDIT_IS_FINAL])
      await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      DROP TABLE audit_heads, audit_records, virtual_keys, api_keys, workspace_members, users, workspaces,
        organizations, installation;
      DROP FUNCTION refuse_audit_change();
    `);
  }
}

const INSTALLATION = `
  CREATE TABLE installation (
    id smallint PRIMARY KEY CHECK (id = 1),
    master_key_check bytea NOT NULL,
    key_pepper_check bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  )`;

const TENANTS = `
  CREATE TABLE organizations (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    wrapped_key bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE workspaces (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id),
    name text NOT NULL,
    slug text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id),
    UNIQUE (organization_id, slug)
  )`;

const PEOPLE = `
  CREATE TABLE users (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id),
    email text NOT NULL,
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
    password_hash text,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id)
  );
  CREATE UNIQUE INDEX users_email ON users (organization_id, lower(email));
  CREATE TABLE workspace_members (
    workspace_id uuid NOT NULL,
    user_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    role text NOT NULL CHECK (role IN ('admin', 'manager', 'member')),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, user_id),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
  )`;

const API_KEYS = `
  CREATE TABLE api_keys (
    id uuid PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('organisation-service', 'workspace-service', 'workspace-user')),
    organization_id uuid NOT NULL REFERENCES organizations (id),
    workspace_id uuid,
    user_id uuid,
    created_by_key_id uuid,
    created_by_user_id uuid,
    creation_mode text NOT NULL CHECK (creation_mode IN ('ui', 'api', 'auto')),
    name text NOT NULL,
    description text,
    key_hash bytea UNIQUE CHECK (octet_length(key_hash) = 32),
    previous_key_hash bytea UNIQUE CHECK (octet_length(previous_key_hash) = 32),
    previous_key_expires_at timestamptz,
    prefix text NOT NULL,
    last_four text NOT NULL,
    scopes text[] NOT NULL,
    expires_at timestamptz,
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'exhausted')),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id),
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id),
    CHECK ((kind = 'organisation-service') = (workspace_id IS NULL)),
    CHECK (kind <> 'workspace-user' OR user_id IS NOT NULL),
    CHECK ((previous_key_hash IS NULL) = (previous_key_expires_at IS NULL)),
    CHECK ((key_hash IS NULL) = (deleted_at IS NOT NULL)),
    CHECK (deleted_at IS NULL OR previous_key_hash IS NULL)
  );
  CREATE INDEX api_keys_of_organization ON api_keys (organization_id, created_at DESC, id DESC)
    WHERE deleted_at IS NULL`;

const VIRTUAL_KEYS = `
  CREATE TABLE virtual_keys (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    note text,
    provider_id text NOT NULL,
    custom_host text,
    fields jsonb NOT NULL DEFAULT '{}',
    sealed_credentials bytea,
    expires_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id),
    UNIQUE (organization_id, slug)
  );
  CREATE INDEX virtual_keys_of_organization ON virtual_keys (organization_id, created_at DESC, id DESC)`;

/** `audit_heads` holds the end of each organization's chain; its row is locked while a record is added. */
const AUDIT = `
  CREATE TABLE audit_records (
    id uuid PRIMARY KEY,
    seq bigint NOT NULL,
    organization_id uuid NOT NULL REFERENCES organizations (id),
    workspace_id uuid,
    actor_kind text NOT NULL,
    actor_id uuid NOT NULL,
    actor_name text NOT NULL,
    user_id uuid,
    action text NOT NULL,
    target_type text NOT NULL,
    target_id text,
    at timestamptz NOT NULL,
    ip text NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    request jsonb,
    before jsonb,
    after jsonb,
    outcome text NOT NULL CHECK (outcome IN ('success', 'refused', 'failed')),
    status integer NOT NULL,
    error_code text,
    request_id text NOT NULL,
    hash bytea NOT NULL,
    UNIQUE (organization_id, seq)
  );
  CREATE INDEX audit_records_of_organization ON audit_records (organization_id, at DESC);
  CREATE TABLE audit_heads (
    organization_id uuid PRIMARY KEY REFERENCES organizations (id),
    seq bigint NOT NULL,
    hash bytea NOT NULL
  )`;

const AUDIT_IS_FINAL = `
  CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'Audit records cannot be changed or removed.' USING ERRCODE = 'insufficient_privilege';
  END $$;
  CREATE TRIGGER audit_records_are_final BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_records
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`;
