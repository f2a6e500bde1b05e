import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets any page of a long list be found, and its total told, without reading what comes before it: of API keys, and of the
 * audit records of a time.
 *
 * A list of API keys, that of an organization or of a workspace, is cut into blocks of about a thousand keys by their ids,
 * and each block keeps how many of its keys are in force, by kind. Whoever wants a page adds up the blocks and reads inside one.
 *
 * The counts are kept by a trigger, so that no writer can forget them, and when the transaction commits, so that nobody
 * waits for longer than that. Changes of one organization take turns at its first block: no two of them can block each other.
 */
export class BlocksOfLists1763691560000 implements MigrationInterface {
  readonly name = 'BlocksOfLists1763691560000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const statements of [BLOCKS, BLOCK_FOR, COUNT, KEEP, RECOUNT]) await runner.query(statements);
    // The trigger's lock keeps writers away until the commit: what is counted now is all there is.
    await runner.query(TRIGGER);
    await runner.query('SELECT recount_api_keys()');
    await runner.query("SELECT protect_tenant_table('api_key_blocks')");
    await runner.query(INDEXES);
    await runner.query(AUDIT_BLOCKS);
    await runner.query("SELECT protect_tenant_table('audit_blocks', 'organization_id', 'SELECT, INSERT')");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      DROP INDEX api_keys_of_organization, api_keys_listed_of_workspace, workspaces_of_organization;
      CREATE INDEX api_keys_of_organization ON api_keys (organization_id, created_at DESC, id DESC)
        INCLUDE (kind, workspace_id) WHERE deleted_at IS NULL;
      DROP TABLE audit_blocks;
      DROP TRIGGER api_keys_are_counted ON api_keys;
      DROP TRIGGER changed_api_keys_are_counted ON api_keys;
      DROP FUNCTION recount_api_keys();
      DROP FUNCTION keep_api_key_blocks();
      DROP FUNCTION count_api_key(api_keys, integer);
      DROP FUNCTION block_for_api_key(api_keys, uuid, integer);
      DROP TABLE api_key_blocks`);
  }
}

/**
 * `list_id` is the organization's id or a workspace's. A block begins with `first_id` and ends where the next begins; the
 * first of a list begins before every id. `last_id` is the highest that was ever counted in it.
 */
const BLOCKS = `
  CREATE TABLE api_key_blocks (
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    list_id uuid NOT NULL,
    first_id uuid NOT NULL,
    last_id uuid NOT NULL,
    organisation_service integer NOT NULL DEFAULT 0,
    workspace_service integer NOT NULL DEFAULT 0,
    workspace_user integer NOT NULL DEFAULT 0,
    PRIMARY KEY (list_id, first_id)
  ) WITH (fillfactor = 70);
  CREATE INDEX api_key_blocks_of_organization ON api_key_blocks (organization_id)`;

/**
 * A key enters both of its lists, or leaves them. First the turn of its organization is waited for; each statement sees what was
 * committed while the one before it waited, so after that all counts are the latest. Where nothing was ever counted,
 * nothing can be taken away: the organization is gone.
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
 * Where a key is counted. A full block is not split: the next one begins with the key that did not fit, and only where
 * that key is above all that were counted in it, so no count moves.
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

const KEEP = `
  CREATE FUNCTION keep_api_key_blocks() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP <> 'INSERT' AND OLD.deleted_at IS NULL THEN PERFORM count_api_key(OLD, -1); END IF;
    IF TG_OP <> 'DELETE' AND NEW.deleted_at IS NULL THEN PERFORM count_api_key(NEW, 1); END IF;
    RETURN NULL;
  END $$`;

const TRIGGER = `
  CREATE CONSTRAINT TRIGGER api_keys_are_counted AFTER INSERT OR DELETE ON api_keys
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION keep_api_key_blocks();
  CREATE CONSTRAINT TRIGGER changed_api_keys_are_counted AFTER UPDATE ON api_keys
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN ((OLD.id, OLD.organization_id, OLD.workspace_id, OLD.kind, OLD.deleted_at IS NULL)
      IS DISTINCT FROM (NEW.id, NEW.organization_id, NEW.workspace_id, NEW.kind, NEW.deleted_at IS NULL))
    EXECUTE FUNCTION keep_api_key_blocks()`;

/** From nothing: for keys that came in while the triggers were off. The caller keeps writers away. */
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

/** Keys are listed in the order of their ids, which is that of their making. */
const INDEXES = `
  DROP INDEX api_keys_of_organization;
  CREATE INDEX api_keys_of_organization ON api_keys (organization_id, id DESC) WHERE deleted_at IS NULL;
  CREATE INDEX api_keys_listed_of_workspace ON api_keys (organization_id, workspace_id, id DESC)
    WHERE deleted_at IS NULL;
  CREATE INDEX workspaces_of_organization ON workspaces (organization_id, created_at DESC, id DESC)`;

/**
 * Each thousand audit records remember their oldest and their newest time, and are as final as the records are: a list of
 * a time reads the records at its edges only.
 */
const AUDIT_BLOCKS = `
  CREATE TABLE audit_blocks (
    organization_id uuid NOT NULL REFERENCES organizations (id),
    number bigint NOT NULL,
    oldest timestamptz NOT NULL,
    newest timestamptz NOT NULL,
    PRIMARY KEY (organization_id, number)
  );
  INSERT INTO audit_blocks
    SELECT organization_id, (seq - 1) / 1000, min(at), max(at) FROM audit_records GROUP BY 1, 2 HAVING count(*) = 1000;
  CREATE TRIGGER audit_blocks_are_final BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_blocks
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`;
