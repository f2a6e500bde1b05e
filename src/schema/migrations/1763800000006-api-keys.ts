import type { MigrationInterface, QueryRunner } from 'typeorm';

/** API keys with the counts of their lists, signed tokens, and stored responses for an `Idempotency-Key`. */
export class ApiKeys1763800000006 implements MigrationInterface {
  readonly name = 'ApiKeys1763800000006';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [API_KEYS, BLOCKS, BLOCK_FOR, COUNT, KEEP, RECOUNT, SIGNED_TOKENS, ANSWERS])
      await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE idempotent_answers, organization_jwt;
      DROP FUNCTION recount_api_keys();
      DROP FUNCTION count_api_key(api_keys, integer);
      DROP FUNCTION block_for_api_key(api_keys, uuid, integer);
      DROP TABLE api_key_blocks, api_keys;
      DROP FUNCTION keep_api_key_blocks();
    `);
  }
}

/**
 * A key acts on the authority of its user, or of the user who created it. A key created with another key has that key's creator in
 * `created_by_user_id`, so every key leads back to a user.
 *
 * A revoked key stays, for the names in old logs. It may lose its workspace and its user, and keeps the hash of its secret in
 * `revoked_key_hash`, so that a request with that secret can be refused as revoked. That hash grants no access.
 */
const API_KEYS = `
  CREATE TABLE api_keys (
    id                      uuid PRIMARY KEY,
    kind                    text NOT NULL CHECK (kind IN ('organisation-service', 'workspace-service', 'workspace-user')),
    organization_id         uuid NOT NULL REFERENCES organizations (id),
    workspace_id            uuid,
    user_id                 uuid,
    created_by_key_id       uuid,
    created_by_user_id      uuid,
    creation_mode           text NOT NULL CHECK (creation_mode IN ('ui', 'api', 'auto')),
    name                    text NOT NULL,
    description             text,
    key_hash                bytea UNIQUE CHECK (octet_length(key_hash) = 32),
    previous_key_hash       bytea UNIQUE CHECK (octet_length(previous_key_hash) = 32),
    previous_key_expires_at timestamptz,
    prefix                  text NOT NULL,
    last_four               text NOT NULL,
    scopes                  text[] NOT NULL,
    expires_at              timestamptz,
    status                  text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'exhausted')),
    created_at              timestamptz NOT NULL DEFAULT now(),
    updated_at              timestamptz NOT NULL DEFAULT now(),
    deleted_at              timestamptz,
    default_config_id       uuid REFERENCES configs (id) ON DELETE SET NULL,
    allow_config_override   boolean NOT NULL DEFAULT true,
    rate_limits             jsonb,
    usage_limits            jsonb,
    default_metadata        jsonb,
    alert_emails            text[],
    revoked_key_hash        bytea,
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id),
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id),
    CONSTRAINT api_keys_kind_says_workspace
      CHECK (deleted_at IS NOT NULL OR (kind = 'organisation-service') = (workspace_id IS NULL)),
    CONSTRAINT api_keys_kind_says_user CHECK (deleted_at IS NOT NULL OR kind <> 'workspace-user' OR user_id IS NOT NULL),
    CONSTRAINT api_keys_check2 CHECK ((previous_key_hash IS NULL) = (previous_key_expires_at IS NULL)),
    CONSTRAINT api_keys_check3 CHECK ((key_hash IS NULL) = (deleted_at IS NOT NULL)),
    CONSTRAINT api_keys_check4 CHECK (deleted_at IS NULL OR previous_key_hash IS NULL)
  );
  -- Keys are listed in the order of their ids, which is that of their creation.
  CREATE INDEX api_keys_of_organization ON api_keys (organization_id, id DESC) WHERE deleted_at IS NULL;
  CREATE INDEX api_keys_listed_of_workspace ON api_keys (organization_id, workspace_id, id DESC) WHERE deleted_at IS NULL;
  CREATE INDEX api_keys_of_authority ON api_keys (organization_id, (coalesce(user_id, created_by_user_id)))
    WHERE deleted_at IS NULL;
  CREATE INDEX api_keys_of_workspace ON api_keys (organization_id, workspace_id);
  CREATE INDEX api_keys_of_user ON api_keys (organization_id, user_id) WHERE user_id IS NOT NULL;
  CREATE INDEX api_keys_revoked ON api_keys (revoked_key_hash) WHERE revoked_key_hash IS NOT NULL;
  SELECT protect_tenant_table('api_keys')`;

/**
 * Counts for finding any page of a long list of keys, and its total, without reading the rows before it
 * (docs/decisions/0015-long-lists.md). A list, that of an organization or of a workspace (`list_id`), is cut into blocks of about a thousand keys by their ids. Each block keeps
 * how many of its keys are in force, by kind.
 *
 * A block begins with `first_id` and ends where the next begins; the first of a list begins before every id. `last_id` is the highest id
 * that was ever counted in it.
 */
const BLOCKS = `
  CREATE TABLE api_key_blocks (
    organization_id      uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    list_id              uuid NOT NULL,
    first_id             uuid NOT NULL,
    last_id              uuid NOT NULL,
    organisation_service integer NOT NULL DEFAULT 0,
    workspace_service    integer NOT NULL DEFAULT 0,
    workspace_user       integer NOT NULL DEFAULT 0,
    PRIMARY KEY (list_id, first_id)
  ) WITH (fillfactor = 70);
  CREATE INDEX api_key_blocks_of_organization ON api_key_blocks (organization_id);
  SELECT protect_tenant_table('api_key_blocks')`;

/**
 * The block of a key. A full block is not split: the next block begins with the key that did not fit, if that key is above all keys counted
 * in it, so no count moves.
 */
const BLOCK_FOR = `
  CREATE FUNCTION block_for_api_key(key api_keys, list uuid, change integer) RETURNS uuid LANGUAGE plpgsql AS $$
  DECLARE
    begins uuid := '00000000-0000-0000-0000-000000000000';
    block api_key_blocks;
  BEGIN
    SELECT * INTO block FROM api_key_blocks
    WHERE list_id = list AND first_id <= key.id ORDER BY first_id DESC LIMIT 1;
    IF FOUND AND (change < 0 OR key.id <= block.last_id
      OR block.organisation_service + block.workspace_service + block.workspace_user < 1000) THEN
      RETURN block.first_id;
    END IF;
    IF FOUND THEN begins := key.id; END IF;
    INSERT INTO api_key_blocks (organization_id, list_id, first_id, last_id)
    VALUES (key.organization_id, list, begins, begins);
    RETURN begins;
  END $$`;

/**
 * A key enters or leaves both of its lists. The function first locks the organization's first block. Each statement sees what was committed
 * while the previous one waited, so all counts read after that are current. Without any block there is nothing to subtract: the
 * organization was deleted.
 */
const COUNT = `
  CREATE FUNCTION count_api_key(key api_keys, change integer) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    beginning CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    list uuid;
    block uuid;
  BEGIN
    PERFORM FROM api_key_blocks WHERE list_id = key.organization_id AND first_id = beginning FOR UPDATE;
    IF NOT FOUND THEN
      IF change < 0 THEN RETURN; END IF;
      INSERT INTO api_key_blocks (organization_id, list_id, first_id, last_id)
      VALUES (key.organization_id, key.organization_id, beginning, beginning) ON CONFLICT DO NOTHING;
      PERFORM FROM api_key_blocks WHERE list_id = key.organization_id AND first_id = beginning FOR UPDATE;
    END IF;
    FOREACH list IN ARRAY array_remove(ARRAY[key.organization_id, key.workspace_id], NULL) LOOP
      block := block_for_api_key(key, list, change);
      UPDATE api_key_blocks SET
        organisation_service = organisation_service + CASE key.kind WHEN 'organisation-service' THEN change ELSE 0 END,
        workspace_service = workspace_service + CASE key.kind WHEN 'workspace-service' THEN change ELSE 0 END,
        workspace_user = workspace_user + CASE key.kind WHEN 'workspace-user' THEN change ELSE 0 END,
        last_id = greatest(last_id, key.id)
      WHERE list_id = list AND first_id = block;
    END LOOP;
  END $$`;

/**
 * Triggers maintain the counts, so no writer can forget them, and only at commit, so the lock is short. Changes of one organization lock
 * its first block in turn, so they cannot deadlock.
 */
const KEEP = `
  CREATE FUNCTION keep_api_key_blocks() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP <> 'INSERT' AND OLD.deleted_at IS NULL THEN PERFORM count_api_key(OLD, -1); END IF;
    IF TG_OP <> 'DELETE' AND NEW.deleted_at IS NULL THEN PERFORM count_api_key(NEW, 1); END IF;
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER api_keys_are_counted AFTER INSERT OR DELETE ON api_keys
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION keep_api_key_blocks();
  CREATE CONSTRAINT TRIGGER changed_api_keys_are_counted AFTER UPDATE ON api_keys
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN ((OLD.id, OLD.organization_id, OLD.workspace_id, OLD.kind, OLD.deleted_at IS NULL)
      IS DISTINCT FROM (NEW.id, NEW.organization_id, NEW.workspace_id, NEW.kind, NEW.deleted_at IS NULL))
    EXECUTE FUNCTION keep_api_key_blocks()`;

/** Recounts all keys, for keys inserted while the triggers were off. The caller excludes writers. */
const RECOUNT = `
  CREATE FUNCTION recount_api_keys() RETURNS void LANGUAGE sql AS $$
    DELETE FROM api_key_blocks;
    INSERT INTO api_key_blocks
      SELECT organization_id, list_id,
        CASE WHEN min(place) = 1 THEN '00000000-0000-0000-0000-000000000000' ELSE min(id::text COLLATE "C")::uuid END,
        max(id::text COLLATE "C")::uuid,
        count(*) FILTER (WHERE kind = 'organisation-service'),
        count(*) FILTER (WHERE kind = 'workspace-service'),
        count(*) FILTER (WHERE kind = 'workspace-user')
      FROM (
        SELECT *, row_number() OVER (PARTITION BY organization_id, list_id ORDER BY id) AS place
        FROM (
          SELECT organization_id, organization_id AS list_id, id, kind FROM api_keys WHERE deleted_at IS NULL
          UNION ALL
          SELECT organization_id, workspace_id, id, kind FROM api_keys
          WHERE deleted_at IS NULL AND workspace_id IS NOT NULL
        ) listed
      ) placed
      GROUP BY organization_id, list_id, (place - 1) / 1000
  $$`;

/** Signed tokens (JWT). `rules` are a `TokenRules`; `keys` are given inline, or were last fetched from `jwks_uri`. */
const SIGNED_TOKENS = `
  CREATE TABLE organization_jwt (
    organization_id uuid PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
    issuers         text[] NOT NULL CHECK (cardinality(issuers) BETWEEN 1 AND 20),
    rules           jsonb NOT NULL,
    jwks_uri        text,
    keys            jsonb,
    fetched_at      timestamptz,
    tried_at        timestamptz,
    problem         text,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CHECK (jwks_uri IS NOT NULL OR keys IS NOT NULL)
  );
  CREATE INDEX organization_jwt_of_issuer ON organization_jwt USING gin (issuers);
  SELECT protect_tenant_table('organization_jwt')`;

/** The response to a request with an `Idempotency-Key`, for its repetitions. Null while the first one is running. */
const ANSWERS = `
  CREATE TABLE idempotent_answers (
    organization_id uuid NOT NULL REFERENCES organizations (id),
    caller_id       uuid NOT NULL,
    key             text NOT NULL,
    fingerprint     bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
    sealed_answer   bytea,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, caller_id, key)
  );
  CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created_at);
  SELECT protect_tenant_table('idempotent_answers')`;
