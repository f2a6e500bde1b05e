import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Policies, the counters of all limits with their leases, and the alerts of budgets. The rules of keys and workspaces are columns beside
 * what they limit.
 *
 * The ledger is `request_attempts`: `charged` names the counters that an attempt's cost or tokens were added to, in the transaction that
 * stored the attempt. So a counter is the sum of its attempts, and can be rebuilt from them.
 */
export class Limits1763800000008 implements MigrationInterface {
  readonly name = 'Limits1763800000008';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [POLICIES, COUNTERS, LEASES, EVENTS, ALERTS]) await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE limit_alerts, limit_events, limit_windows, limit_leases, limit_counters, limit_policies;
      DROP FUNCTION alert_of_limit_event();
    `);
  }
}

/** One of `budget` and `rate` is set. An archived policy limits nothing; its counters stay. */
const POLICIES = `
  CREATE TABLE limit_policies (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    name            text NOT NULL,
    conditions      jsonb NOT NULL,
    group_by        jsonb NOT NULL,
    budget          jsonb,
    rate            jsonb,
    last_reset_at   timestamptz,
    archived_at     timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id) ON DELETE CASCADE,
    CHECK ((budget IS NULL) <> (rate IS NULL))
  );
  CREATE INDEX limit_policies_of_workspace ON limit_policies (workspace_id) WHERE archived_at IS NULL;
  CREATE INDEX limit_policies_listed_of_workspace
    ON limit_policies (organization_id, workspace_id, created_at DESC, id DESC);
  CREATE INDEX budget_policies_in_force ON limit_policies (organization_id, created_at DESC, id DESC)
    WHERE budget IS NOT NULL AND archived_at IS NULL;
  CREATE INDEX budget_policies_archived ON limit_policies (organization_id, created_at DESC, id DESC)
    WHERE budget IS NOT NULL AND archived_at IS NOT NULL;
  CREATE INDEX rate_policies_in_force ON limit_policies (organization_id, created_at DESC, id DESC)
    WHERE rate IS NOT NULL AND archived_at IS NULL;
  CREATE INDEX rate_policies_archived ON limit_policies (organization_id, created_at DESC, id DESC)
    WHERE rate IS NOT NULL AND archived_at IS NOT NULL;
  SELECT protect_tenant_table('limit_policies')`;

/**
 * `spent` is in nano-dollars, tokens or (for concurrency) nothing; it is the ledger's sum and only grows. `forgiven` is how much of it was
 * reset by a user. A budget is exhausted when what was spent reaches its amount.
 *
 * `period`: when the counter's period began, in seconds since the epoch; 0 for the period without an end. It follows the @ in the key
 * (`counterKey`). `band`: the sixteenth of a power of two in which the use lies: sign, exponent and four bits of the fraction of an IEEE
 * 754 number, which are in the order of the numbers (https://www.postgresql.org/docs/current/datatype-numeric.html#DATATYPE-FLOAT). The
 * groups of a policy are counted off in a small index by these bands, and only the bands of a page are read and sorted.
 *
 * Why not an index of the use itself: each charge would have to change all indexes of the table (five times the WAL), for a list that is
 * rarely viewed. A counter with a few charges stays in its band with the next charge:
 * https://www.postgresql.org/docs/current/storage-hot.html
 *
 * Vacuum comes after a fiftieth of the table has changed, because counting in an index reads the rows of all pages that changed since the
 * last one.
 */
const COUNTERS = `
  CREATE TABLE limit_counters (
    key             text PRIMARY KEY,
    organization_id uuid NOT NULL,
    limit_id        uuid NOT NULL,
    measure         text NOT NULL CHECK (measure IN ('cost', 'tokens', 'concurrency')),
    group_text      text,
    spent           bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
    forgiven        bigint NOT NULL DEFAULT 0 CHECK (forgiven BETWEEN 0 AND spent),
    amount          bigint NOT NULL,
    alert_amount    bigint,
    created_at      timestamptz NOT NULL DEFAULT now(),
    period          bigint NOT NULL GENERATED ALWAYS AS (coalesce(substring(key FROM '@([0-9]{1,12})$')::bigint, 0)) STORED,
    band            smallint NOT NULL GENERATED ALWAYS AS (
      get_byte(float8send((spent - forgiven)::float8), 0) * 256 + get_byte(float8send((spent - forgiven)::float8), 1)
    ) STORED,
    is_exhausted    boolean NOT NULL GENERATED ALWAYS AS (spent - forgiven >= amount) STORED
  ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
  CREATE INDEX limit_counters_of_groups ON limit_counters (organization_id, limit_id, period, band DESC, is_exhausted)
    WHERE group_text IS NOT NULL;
  SELECT protect_tenant_table('limit_counters')`;

/**
 * `limit_leases`: what a process (`holder`) has taken of a counter: free, in use, or spent and not yet stored.
 * `call` and `changed`: the last call that changed the lease, and by how much. A process whose call failed without a response reports that
 * with its next call, and the effect of the failed call is undone first: nothing stays leased to a process without its knowledge, and
 * nothing is returned twice. A call that arrives after a later one has no effect.
 * `doubts`: how often a lease was found expired. After the first time it counts for two seconds more, in which its process renews it if it
 * lives; so a clock that jumps ahead of all leases grants nothing twice. After the second time it has ended, even if the clock is set back.
 * The lease of the calling process always counts.
 *
 * `limit_windows`: how much passed in each hundredth of a window. After a crash of the server it may be empty, which costs one window; that
 * spares every request the wait for a disk (UNLOGGED).
 */
const LEASES = `
  CREATE TABLE limit_leases (
    counter    text NOT NULL,
    holder     text NOT NULL,
    amount     bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    call       bigint NOT NULL DEFAULT 0,
    changed    bigint NOT NULL DEFAULT 0,
    doubts     smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (counter, holder)
  ) WITH (fillfactor = 70);
  CREATE INDEX limit_leases_of_holder ON limit_leases (holder);

  CREATE UNLOGGED TABLE limit_windows (
    key     text PRIMARY KEY,
    marks   jsonb NOT NULL DEFAULT '{}',
    used_at timestamptz NOT NULL DEFAULT now()
  ) WITH (fillfactor = 70)`;

/** A threshold or limit that was reached, once per counter. */
const EVENTS = `
  CREATE TABLE limit_events (
    counter         text NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('threshold', 'exhausted')),
    organization_id uuid NOT NULL,
    limit_id        uuid NOT NULL,
    group_text      text,
    spent           bigint NOT NULL,
    amount          bigint NOT NULL,
    at              timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (counter, kind)
  );
  CREATE INDEX limit_events_of_organization ON limit_events (organization_id, at DESC);
  SELECT protect_tenant_table('limit_events')`;

/**
 * An event inserts one alert per channel in its own transaction, whichever process reached the threshold. Resetting the budget removes
 * both, so that the next event sends alerts again.
 */
const ALERTS = `
  CREATE TABLE limit_alerts (
    id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    counter         text NOT NULL,
    kind            text NOT NULL,
    channel         text NOT NULL CHECK (channel IN ('mail', 'webhook')),
    leased_until    timestamptz,
    done_at         timestamptz,
    outcome         text CHECK (outcome IN ('sent', 'void')),
    created_at      timestamptz NOT NULL DEFAULT now(),
    UNIQUE (counter, kind, channel),
    FOREIGN KEY (counter, kind) REFERENCES limit_events (counter, kind) ON DELETE CASCADE
  );
  CREATE INDEX waiting_limit_alerts ON limit_alerts (created_at) WHERE done_at IS NULL;
  SELECT protect_tenant_table('limit_alerts');

  CREATE FUNCTION alert_of_limit_event() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO limit_alerts (organization_id, counter, kind, channel)
    SELECT NEW.organization_id, NEW.counter, NEW.kind, channel FROM unnest(ARRAY['mail', 'webhook']) AS channel;
    RETURN NULL;
  END $$;
  CREATE TRIGGER alert_of_limit_event AFTER INSERT ON limit_events
    FOR EACH ROW EXECUTE FUNCTION alert_of_limit_event()`;
