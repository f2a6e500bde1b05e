import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Limits: their rules beside what they limit, policies, and the counters with what is leased of them.
 *
 * The ledger is `request_attempts`: `charged` names the counters that an attempt's cost or tokens were added to, in the
 * transaction that stored the attempt. So a counter is the sum of its attempts, and can be made again from them.
 */
export class Limits1763690400000 implements MigrationInterface {
  readonly name = 'Limits1763690400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const statements of [
      RULES,
      POLICIES,
      COUNTERS,
      LEDGER,
      TAKE_BUDGETED,
      TAKE_WINDOW,
      TAKE,
      GIVE_BACK,
      CHARGE,
    ])
      await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      DROP FUNCTION charge_limits(jsonb), give_back_limits(text, jsonb), take_limits(text, jsonb), take_window(jsonb),
        take_pool(text, jsonb);
      ALTER TABLE request_attempts DROP COLUMN charged;
      DROP TABLE limit_events, limit_windows, limit_leases, limit_counters, limit_policies;
      ALTER TABLE workspaces DROP COLUMN rate_limits, DROP COLUMN usage_limits;
      ALTER TABLE virtual_keys DROP COLUMN rate_limits, DROP COLUMN usage_limits;
      ALTER TABLE api_keys DROP COLUMN rate_limits, DROP COLUMN usage_limits;
    `);
  }
}

/** Lists of `RateRule` and `BudgetRule`; null where there are none. */
const RULES = `
  ALTER TABLE api_keys ADD COLUMN rate_limits jsonb, ADD COLUMN usage_limits jsonb;
  ALTER TABLE virtual_keys ADD COLUMN rate_limits jsonb, ADD COLUMN usage_limits jsonb;
  ALTER TABLE workspaces ADD COLUMN rate_limits jsonb, ADD COLUMN usage_limits jsonb`;

/** One of `budget` and `rate` is set. An archived policy limits nothing; its counters stay. */
const POLICIES = `
  CREATE TABLE limit_policies (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    name text NOT NULL,
    conditions jsonb NOT NULL,
    group_by jsonb NOT NULL,
    budget jsonb,
    rate jsonb,
    last_reset_at timestamptz,
    archived_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id) ON DELETE CASCADE,
    CHECK ((budget IS NULL) <> (rate IS NULL))
  );
  CREATE INDEX limit_policies_of_workspace ON limit_policies (workspace_id) WHERE archived_at IS NULL;
  CREATE INDEX limit_policies_of_organization ON limit_policies (organization_id, created_at DESC, id DESC)`;

/**
 * `limit_counters`: what was spent, in nano-dollars, tokens or (for slots) nothing, and how much of it a person has
 * forgiven by a reset. The first is the ledger's sum and only grows.
 * `limit_leases`: what a process holds of a counter: free in its hands, in use, or spent and not yet stored.
 * `limit_windows`: how much passed in each hundredth of a window. After a crash of the server it may be empty, which
 * costs one window; that spares every request the wait for a disk (UNLOGGED).
 * `limit_events`: a threshold or an end that was reached, once for each counter.
 */
const COUNTERS = `
  CREATE TABLE limit_counters (
    key text PRIMARY KEY,
    organization_id uuid NOT NULL,
    limit_id uuid NOT NULL,
    measure text NOT NULL CHECK (measure IN ('cost', 'tokens', 'concurrency')),
    group_text text,
    spent bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
    forgiven bigint NOT NULL DEFAULT 0 CHECK (forgiven BETWEEN 0 AND spent),
    amount bigint NOT NULL,
    alert_amount bigint,
    refused_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
  ) WITH (fillfactor = 70);
  CREATE INDEX limit_counters_of_limit ON limit_counters (limit_id, created_at DESC);
  CREATE TABLE limit_leases (
    counter text NOT NULL,
    holder text NOT NULL,
    amount bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (counter, holder)
  ) WITH (fillfactor = 70);
  CREATE INDEX limit_leases_of_holder ON limit_leases (holder);
  CREATE UNLOGGED TABLE limit_windows (
    key text PRIMARY KEY,
    marks jsonb NOT NULL DEFAULT '{}',
    used_at timestamptz NOT NULL DEFAULT now()
  ) WITH (fillfactor = 70);
  CREATE TABLE limit_events (
    counter text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('threshold', 'exhausted')),
    organization_id uuid NOT NULL,
    limit_id uuid NOT NULL,
    group_text text,
    spent bigint NOT NULL,
    amount bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (counter, kind)
  );
  CREATE INDEX limit_events_of_organization ON limit_events (organization_id, at DESC)`;

const LEDGER = `ALTER TABLE request_attempts ADD COLUMN charged jsonb`;

/**
 * Takes from a budget or from slots. Free is what is neither spent nor leased. Where there is not enough for all who
 * wait, only the first of them is served, and towards the end nothing is given ahead, so that nothing is left in a process
 * that cannot use it while another has to refuse.
 */
export const TAKE_BUDGETED = `
  CREATE FUNCTION take_pool(holder_name text, ask jsonb, OUT granted bigint, OUT free bigint) LANGUAGE plpgsql AS $$
  DECLARE
    counter_key text := ask->>'key';
    wanted bigint := (ask->>'first')::bigint;
    needed bigint := (ask->>'need')::bigint;
    debt bigint := (ask->>'debt')::bigint;
    used bigint;
    leased bigint;
  BEGIN
    INSERT INTO limit_counters AS c (key, organization_id, limit_id, measure, group_text, amount, alert_amount)
    VALUES (counter_key, (ask->>'organization')::uuid, (ask->>'limit')::uuid, ask->>'measure', ask->>'group',
      (ask->>'amount')::bigint, (ask->>'alert')::bigint)
    ON CONFLICT (key) DO UPDATE SET amount = EXCLUDED.amount, alert_amount = EXCLUDED.alert_amount
    RETURNING c.spent - c.forgiven INTO used;
    SELECT coalesce(sum(l.amount), 0) INTO leased FROM limit_leases l
    WHERE l.counter = counter_key AND l.expires_at > clock_timestamp();
    free := (ask->>'amount')::bigint - used - leased - debt;
    granted := CASE
      WHEN free - needed > 1000 * greatest(wanted, 1) THEN needed + least((ask->>'spare')::bigint, (free - needed) / 32)
      WHEN free >= needed THEN needed
      WHEN free >= wanted THEN wanted
      ELSE 0 END;
    free := free - granted;
    IF granted + debt > 0 THEN
      INSERT INTO limit_leases AS l (counter, holder, amount, expires_at)
      VALUES (counter_key, holder_name, granted + debt, clock_timestamp() + (ask->>'lease')::interval)
      ON CONFLICT (counter, holder) DO UPDATE SET expires_at = EXCLUDED.expires_at,
        amount = EXCLUDED.amount + CASE WHEN l.expires_at > clock_timestamp() THEN l.amount ELSE 0 END;
    END IF;
    IF ask->>'measure' <> 'concurrency' AND wanted > 0 AND granted = 0 AND used + wanted > (ask->>'amount')::bigint THEN
      UPDATE limit_counters c SET refused_at = clock_timestamp() WHERE c.key = counter_key AND c.refused_at IS NULL;
      INSERT INTO limit_events (counter, kind, organization_id, limit_id, group_text, spent, amount)
      SELECT c.key, 'exhausted', c.organization_id, c.limit_id, c.group_text, c.spent - c.forgiven, c.amount
      FROM limit_counters c WHERE c.key = counter_key
      ON CONFLICT DO NOTHING;
    ELSIF granted > 0 THEN
      UPDATE limit_counters c SET refused_at = NULL WHERE c.key = counter_key AND c.refused_at IS NOT NULL;
    END IF;
  END
  $$`;

/** Takes from a window that slides in steps of a hundredth of its length. */
export const TAKE_WINDOW = `
  CREATE FUNCTION take_window(ask jsonb, OUT granted bigint, OUT free bigint, OUT retry_ms bigint)
  LANGUAGE plpgsql AS $$
  DECLARE
    step_ms bigint := greatest((ask->>'window')::bigint / 100, 1);
    now_ms bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
    step bigint;
    wanted bigint := (ask->>'first')::bigint;
    needed bigint := (ask->>'need')::bigint;
    debt bigint := (ask->>'debt')::bigint;
    kept jsonb;
    used bigint;
    oldest bigint;
  BEGIN
    INSERT INTO limit_windows AS w (key) VALUES (ask->>'key')
    ON CONFLICT (key) DO UPDATE SET used_at = EXCLUDED.used_at
    RETURNING w.marks INTO kept;
    now_ms := floor(extract(epoch FROM clock_timestamp()) * 1000);
    step := now_ms / step_ms;
    SELECT coalesce(jsonb_object_agg(mark.key, mark.value), '{}'), coalesce(sum(mark.value::bigint), 0), min(mark.key::bigint)
    INTO kept, used, oldest
    FROM jsonb_each_text(kept) AS mark WHERE mark.key::bigint > step - 100;
    free := (ask->>'amount')::bigint - used - debt;
    granted := CASE
      WHEN free >= needed THEN needed + least((ask->>'spare')::bigint, (free - needed) / 32)
      WHEN free >= wanted THEN wanted
      ELSE 0 END;
    free := free - granted;
    IF granted + debt > 0 THEN
      kept := jsonb_set(kept, ARRAY[step::text],
        to_jsonb((coalesce((kept->>step::text)::bigint, 0) + granted + debt)::text));
    END IF;
    retry_ms := greatest((coalesce(oldest, step) + 100) * step_ms - now_ms, 1);
    UPDATE limit_windows w SET marks = kept WHERE w.key = ask->>'key';
  END
  $$`;

/** Answers in the order of the asks. Counters are locked in the order of their names, so that no two processes wait in a circle. */
const TAKE = `
  CREATE FUNCTION take_limits(holder_name text, asks jsonb)
  RETURNS TABLE (place bigint, granted bigint, free bigint, retry_ms bigint) LANGUAGE plpgsql AS $$
  DECLARE
    one record;
  BEGIN
    FOR one IN SELECT a.ask, a.at FROM jsonb_array_elements(asks) WITH ORDINALITY AS a (ask, at)
      ORDER BY a.ask->>'key' COLLATE "C"
    LOOP
      place := one.at;
      IF one.ask->>'kind' = 'window' THEN
        SELECT t.granted, t.free, t.retry_ms INTO granted, free, retry_ms FROM take_window(one.ask) AS t;
      ELSE
        SELECT t.granted, t.free, 0 INTO granted, free, retry_ms FROM take_pool(holder_name, one.ask) AS t;
      END IF;
      RETURN NEXT;
    END LOOP;
  END
  $$`;

/**
 * From a window, the oldest marks are taken away first: what is left of the others counts longer. Then keeps alive what
 * the process still holds; a lease that somebody else is changing right now is kept alive the next time.
 */
export const GIVE_BACK = `
  CREATE FUNCTION give_back_limits(holder_name text, returns jsonb) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    one record;
    kept jsonb;
    mark record;
    rest bigint;
    part bigint;
  BEGIN
    FOR one IN SELECT r.* FROM jsonb_to_recordset(returns) AS r (key text, kind text, amount bigint)
      ORDER BY r.key COLLATE "C"
    LOOP
      IF one.kind <> 'window' THEN
        PERFORM 1 FROM limit_counters c WHERE c.key = one.key FOR UPDATE;
        UPDATE limit_leases l SET amount = greatest(l.amount - one.amount, 0)
        WHERE l.counter = one.key AND l.holder = holder_name;
        CONTINUE;
      END IF;
      SELECT w.marks INTO kept FROM limit_windows w WHERE w.key = one.key FOR UPDATE;
      CONTINUE WHEN NOT FOUND;
      rest := one.amount;
      FOR mark IN SELECT m.key AS step, m.value::bigint AS amount FROM jsonb_each_text(kept) AS m ORDER BY m.key::bigint
      LOOP
        EXIT WHEN rest = 0;
        part := least(rest, mark.amount);
        rest := rest - part;
        kept := jsonb_set(kept, ARRAY[mark.step], to_jsonb((mark.amount - part)::text));
      END LOOP;
      UPDATE limit_windows w SET marks = kept WHERE w.key = one.key;
    END LOOP;
    UPDATE limit_leases l SET expires_at = clock_timestamp() + due.lease
    FROM (
      SELECT d.counter, d.holder, due_lease.lease FROM limit_leases d JOIN limit_counters c ON c.key = d.counter
        CROSS JOIN LATERAL (SELECT CASE WHEN c.measure = 'concurrency' THEN interval '30 seconds'
          ELSE interval '1 hour' END AS lease) AS due_lease
      WHERE d.holder = holder_name AND d.amount > 0 AND d.expires_at < clock_timestamp() + due_lease.lease * 0.8
      FOR UPDATE OF d SKIP LOCKED
    ) AS due
    WHERE l.counter = due.counter AND l.holder = due.holder;
  END
  $$`;

/**
 * Adds what attempts cost to their counters and takes it off the leases. Runs in the transaction that stores the
 * attempts, so that a counter is always the sum of its attempts. Writes down which thresholds were passed.
 */
const CHARGE = `
  CREATE FUNCTION charge_limits(charges jsonb) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    one record;
  BEGIN
    FOR one IN
      SELECT r.counter, sum(r.amount)::bigint AS amount
      FROM jsonb_to_recordset(charges) AS r (counter text, amount bigint)
      GROUP BY r.counter ORDER BY r.counter COLLATE "C"
    LOOP
      UPDATE limit_counters c SET spent = c.spent + one.amount WHERE c.key = one.counter;
    END LOOP;
    UPDATE limit_leases l SET amount = greatest(l.amount - used.leased, 0)
    FROM (
      SELECT r.counter, r.holder, sum(r.leased)::bigint AS leased
      FROM jsonb_to_recordset(charges) AS r (counter text, holder text, leased bigint)
      GROUP BY r.counter, r.holder
    ) AS used
    WHERE l.counter = used.counter AND l.holder = used.holder;
    INSERT INTO limit_events (counter, kind, organization_id, limit_id, group_text, spent, amount)
    SELECT c.key, reached.kind, c.organization_id, c.limit_id, c.group_text, c.spent - c.forgiven, c.amount
    FROM limit_counters c CROSS JOIN LATERAL (VALUES ('threshold', c.alert_amount), ('exhausted', c.amount))
      AS reached (kind, at)
    WHERE c.key IN (SELECT r.counter FROM jsonb_to_recordset(charges) AS r (counter text)) AND c.spent - c.forgiven >= reached.at
    ON CONFLICT DO NOTHING;
  END
  $$`;
