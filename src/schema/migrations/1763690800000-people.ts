import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * People by name, invites, mails that wait to be sent, and workspaces that can be described and deleted.
 *
 * A deleted person or workspace is gone as a row, so that no query can find it and every foreign key goes on judging.
 * Its revoked keys stay, for the names in old logs, and let go of it.
 */
export class People1763690800000 implements MigrationInterface {
  readonly name = 'People1763690800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const statements of [WORKSPACES, PEOPLE, REVOKED_KEYS, INVITES, MAILS])
      await runner.query(statements);
  }

  /** The looser constraints on revoked keys stay: rows may need them by now. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      DROP TABLE mails, invite_workspaces, invites;
      DROP INDEX api_keys_of_workspace, api_keys_of_user, users_of_organization, members_of_user, one_default_workspace;
      ALTER TABLE workspace_members DROP COLUMN updated_at;
      ALTER TABLE users DROP COLUMN first_name, DROP COLUMN last_name, DROP COLUMN status, DROP COLUMN updated_at;
      ALTER TABLE workspaces DROP COLUMN description, DROP COLUMN defaults, DROP COLUMN is_default, DROP COLUMN updated_at;
    `);
  }
}

/** Each organization keeps the workspace that it began with. */
const WORKSPACES = `
  ALTER TABLE workspaces
    ADD COLUMN description text,
    ADD COLUMN defaults jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN is_default boolean NOT NULL DEFAULT false,
    ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
  UPDATE workspaces SET is_default = true WHERE id IN (
    SELECT DISTINCT ON (organization_id) id FROM workspaces ORDER BY organization_id, created_at, id
  );
  CREATE UNIQUE INDEX one_default_workspace ON workspaces (organization_id) WHERE is_default`;

const PEOPLE = `
  ALTER TABLE users
    ADD COLUMN first_name text,
    ADD COLUMN last_name text,
    ADD COLUMN status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'deactivated')),
    ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
  CREATE INDEX users_of_organization ON users (organization_id, created_at DESC, id DESC);
  ALTER TABLE workspace_members ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
  CREATE INDEX members_of_user ON workspace_members (organization_id, user_id)`;

/** What a key in use must name, a revoked one may have lost. The constraints are found by what they say: they have no names of ours. */
const REVOKED_KEYS = `
  DO $$
  DECLARE found record;
  BEGIN
    FOR found IN
      SELECT conname FROM pg_constraint
      WHERE conrelid = 'api_keys'::regclass AND contype = 'c' AND pg_get_constraintdef(oid) LIKE '%kind%'
        AND (pg_get_constraintdef(oid) LIKE '%user_id IS NOT NULL%' OR pg_get_constraintdef(oid) LIKE '%workspace_id IS NULL%')
    LOOP
      EXECUTE format('ALTER TABLE api_keys DROP CONSTRAINT %I', found.conname);
    END LOOP;
  END $$;
  ALTER TABLE api_keys
    ADD CONSTRAINT api_keys_kind_says_workspace
      CHECK (deleted_at IS NOT NULL OR (kind = 'organisation-service') = (workspace_id IS NULL)),
    ADD CONSTRAINT api_keys_kind_says_user
      CHECK (deleted_at IS NOT NULL OR kind <> 'workspace-user' OR user_id IS NOT NULL);
  CREATE INDEX api_keys_of_workspace ON api_keys (organization_id, workspace_id);
  CREATE INDEX api_keys_of_user ON api_keys (organization_id, user_id) WHERE user_id IS NOT NULL`;

/** Of one address only one invite can be open. Only a hash of the token is kept; it is null until a mail has been made. */
const INVITES = `
  CREATE TABLE invites (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id),
    email text NOT NULL,
    role text NOT NULL CHECK (role IN ('admin', 'member')),
    key_scopes text[],
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'accepted', 'cancelled', 'expired')),
    token_hash bytea CHECK (octet_length(token_hash) = 32),
    invited_by uuid NOT NULL,
    expires_at timestamptz NOT NULL,
    accepted_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id),
    CHECK ((status = 'accepted') = (accepted_at IS NOT NULL))
  );
  CREATE UNIQUE INDEX one_open_invite ON invites (organization_id, lower(email)) WHERE status = 'pending';
  CREATE INDEX invites_of_organization ON invites (organization_id, created_at DESC, id DESC);
  CREATE TABLE invite_workspaces (
    invite_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    role text NOT NULL CHECK (role IN ('admin', 'manager', 'member')),
    PRIMARY KEY (invite_id, workspace_id),
    FOREIGN KEY (organization_id, invite_id) REFERENCES invites (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX invites_to_workspace ON invite_workspaces (organization_id, workspace_id)`;

/** Written in the transaction that wants the mail, and marked when it is sent. It says what to write and holds no secret. */
const MAILS = `
  CREATE TABLE mails (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    invite_id uuid NOT NULL,
    leased_until timestamptz,
    sent_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, invite_id) REFERENCES invites (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX waiting_mails ON mails (created_at) WHERE sent_at IS NULL`;
