import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The installation, organizations, workspaces, and users: accounts, members, invites and the mails of invites.
 *
 * A row that belongs to a workspace references organization and workspace in one foreign key, so no row can refer to a workspace of another
 * organization.
 *
 * Removing a user or workspace deletes its row, so that no query can find it and foreign keys stay effective.
 *
 * For each scope and filter, lists have an index in their order; otherwise a page of a few rows would read all rows. An index `…_counted`
 * has only the owner columns. Equal entries are stored once with the positions of their rows, so 100,000 rows are counted in some 90 pages:
 * https://www.postgresql.org/docs/current/btree.html#BTREE-DEDUPLICATION
 */
export class TenantsAndPeople1763800000002 implements MigrationInterface {
  readonly name = 'TenantsAndPeople1763800000002';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [INSTALLATION, ORGANIZATIONS, WORKSPACES, USERS, MEMBERS, INVITES, MAILS])
      await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE mails, invite_workspaces, invites, workspace_members, users, workspaces, organizations, installation
    `);
  }
}

/**
 * One row. The check values verify that a start uses the master key and pepper of this database. `audit_seal_key`: the key of the audit
 * seals, sealed by the master key, after the master key was replaced: earlier seals stay valid.
 */
const INSTALLATION = `
  CREATE TABLE installation (
    id               smallint PRIMARY KEY CHECK (id = 1),
    master_key_check bytea NOT NULL,
    key_pepper_check bytea NOT NULL,
    created_at       timestamptz NOT NULL DEFAULT now(),
    audit_seal_key   bytea
  )`;

/** `settings` holds only differences from the defaults. The default config is a foreign key once configs exist. */
const ORGANIZATIONS = `
  CREATE TABLE organizations (
    id                  uuid PRIMARY KEY,
    name                text NOT NULL,
    wrapped_key         bytea NOT NULL,
    created_at          timestamptz NOT NULL DEFAULT now(),
    settings            jsonb NOT NULL DEFAULT '{}',
    updated_at          timestamptz NOT NULL DEFAULT now(),
    default_config_id   uuid,
    alert_webhook_url   text,
    sealed_alert_secret bytea
  );
  SELECT protect_tenant_table('organizations', 'id', 'SELECT, UPDATE')`;

/**
 * Each organization keeps its initial workspace (`is_default`). Limits are lists of `RateRule` and `BudgetRule`; null for none. Days of
 * retention are null where the organization's apply. `log_redaction` is a `LogRedaction`.
 */
const WORKSPACES = `
  CREATE TABLE workspaces (
    id                  uuid PRIMARY KEY,
    organization_id     uuid NOT NULL REFERENCES organizations (id),
    name                text NOT NULL,
    slug                text NOT NULL,
    created_at          timestamptz NOT NULL DEFAULT now(),
    default_config_id   uuid,
    rate_limits         jsonb,
    usage_limits        jsonb,
    description         text,
    defaults            jsonb NOT NULL DEFAULT '{}',
    is_default          boolean NOT NULL DEFAULT false,
    updated_at          timestamptz NOT NULL DEFAULT now(),
    log_retention_days  integer CHECK (log_retention_days BETWEEN 1 AND 3650),
    body_retention_days integer CHECK (body_retention_days BETWEEN 1 AND 3650),
    log_redaction       jsonb,
    UNIQUE (organization_id, id),
    UNIQUE (organization_id, slug)
  );
  CREATE UNIQUE INDEX one_default_workspace ON workspaces (organization_id) WHERE is_default;
  CREATE INDEX workspaces_of_organization ON workspaces (organization_id, created_at DESC, id DESC);
  CREATE INDEX workspaces_by_name ON workspaces (organization_id, name, id);
  -- The shipper asks for these with every batch, among workspaces of which few have any.
  CREATE INDEX workspaces_with_redaction ON workspaces (organization_id) WHERE log_redaction IS NOT NULL;
  CREATE INDEX workspaces_counted ON workspaces (organization_id);
  SELECT protect_tenant_table('workspaces')`;

/** Passwords and other credentials are in separate tables. `users_to_sign_in` serves the lookup before the organization is known. */
const USERS = `
  CREATE TABLE users (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id),
    email           text NOT NULL,
    role            text NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
    created_at      timestamptz NOT NULL DEFAULT now(),
    first_name      text,
    last_name       text,
    status          text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'deactivated')),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id)
  );
  CREATE UNIQUE INDEX users_email ON users (organization_id, lower(email));
  CREATE INDEX users_to_sign_in ON users (lower(email));
  CREATE INDEX users_by_email ON users (organization_id, email);
  CREATE INDEX users_of_organization ON users (organization_id, created_at DESC, id DESC);
  CREATE INDEX users_by_role ON users (organization_id, role, created_at DESC, id DESC);
  CREATE INDEX users_counted ON users (organization_id);
  SELECT protect_tenant_table('users')`;

const MEMBERS = `
  CREATE TABLE workspace_members (
    workspace_id    uuid NOT NULL,
    user_id         uuid NOT NULL,
    organization_id uuid NOT NULL,
    role            text NOT NULL CHECK (role IN ('admin', 'manager', 'member')),
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace_id, user_id),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX members_of_user ON workspace_members (organization_id, user_id);
  CREATE INDEX members_listed ON workspace_members (organization_id, workspace_id, created_at DESC, user_id DESC);
  CREATE INDEX members_by_role ON workspace_members (organization_id, workspace_id, role, created_at DESC, user_id DESC);
  CREATE INDEX members_counted ON workspace_members (organization_id, workspace_id);
  SELECT protect_tenant_table('workspace_members')`;

/** An address has at most one open invite. Only a hash of the token is stored; it is null until the mail was written. */
const INVITES = `
  CREATE TABLE invites (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id),
    email           text NOT NULL,
    role            text NOT NULL CHECK (role IN ('admin', 'member')),
    key_scopes      text[],
    status          text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'accepted', 'cancelled', 'expired')),
    token_hash      bytea CHECK (octet_length(token_hash) = 32),
    invited_by      uuid NOT NULL,
    expires_at      timestamptz NOT NULL,
    accepted_at     timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id),
    CHECK ((status = 'accepted') = (accepted_at IS NOT NULL))
  );
  CREATE UNIQUE INDEX one_open_invite ON invites (organization_id, lower(email)) WHERE status = 'pending';
  CREATE INDEX invites_of_organization ON invites (organization_id, created_at DESC, id DESC);
  CREATE INDEX invites_by_email ON invites (organization_id, email);
  CREATE INDEX invites_by_role ON invites (organization_id, role, created_at DESC, id DESC);
  CREATE INDEX invites_by_status ON invites (organization_id, status, created_at DESC, id DESC);
  CREATE INDEX invites_counted ON invites (organization_id);

  CREATE TABLE invite_workspaces (
    invite_id       uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    organization_id uuid NOT NULL,
    role            text NOT NULL CHECK (role IN ('admin', 'manager', 'member')),
    PRIMARY KEY (invite_id, workspace_id),
    FOREIGN KEY (organization_id, invite_id) REFERENCES invites (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX invites_to_workspace ON invite_workspaces (organization_id, workspace_id);
  SELECT protect_tenant_table('invites'), protect_tenant_table('invite_workspaces')`;

/** Inserted in the transaction that requires the mail, and marked when it is sent. A row describes the mail and contains no secret. */
const MAILS = `
  CREATE TABLE mails (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    invite_id       uuid NOT NULL,
    leased_until    timestamptz,
    sent_at         timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, invite_id) REFERENCES invites (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX waiting_mails ON mails (created_at) WHERE sent_at IS NULL;
  SELECT protect_tenant_table('mails')`;
