import type { MigrationInterface, QueryRunner } from 'typeorm';
import { GIVE_BACK, TAKE_BUDGETED, TAKE_WINDOW } from './1763690400000-limits.js';

/**
 * A lease remembers the last call that changed it, and by how much. A process that never heard what became of a call says so
 * with its next one, and what that call had done is undone first: nothing stays leased to a process that does not know of
 * it, and nothing is given back twice. A call that comes after a later one has no effect.
 *
 * A window forgets what lies more than its length ahead: the clock was set back, and nobody is to wait until it is there again.
 */
export class NumberedLeases1763691580001 implements MigrationInterface {
  readonly name = 'NumberedLeases1763691580001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`ALTER TABLE limit_leases
      ADD COLUMN call bigint NOT NULL DEFAULT 0, ADD COLUMN changed bigint NOT NULL DEFAULT 0`);
    for (const statement of [TAKE, GIVE, WINDOW]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const before of [TAKE_BUDGETED, GIVE_BACK, TAKE_WINDOW])
      await runner.query(before.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION'));
    await runner.query('ALTER TABLE limit_leases DROP COLUMN call, DROP COLUMN changed');
  }
}

/** As before; and it undoes what got lost, and looks at the numbers. A process of an older version numbers nothing. */
const TAKE = `
  CREATE OR REPLACE FUNCTION take_pool(holder_name text, ask jsonb, OUT granted bigint, OUT free bigint) LANGUAGE plpgsql AS $$
  DECLARE
    counter_key text := ask->>'key';
    wanted bigint := (ask->>'first')::bigint;
    needed bigint := (ask->>'need')::bigint;
    debt bigint := (ask->>'debt')::bigint;
    used bigint;
    leased bigint;
    call_number bigint := coalesce((ask->>'call')::bigint, 0);
    unsure_since bigint := (ask->>'unsure_since')::bigint;
    last_call bigint;
  BEGIN
    INSERT INTO limit_counters AS c (key, organization_id, limit_id, measure, group_text, amount, alert_amount)
    VALUES (counter_key, (ask->>'organization')::uuid, (ask->>'limit')::uuid, ask->>'measure', ask->>'group',
      (ask->>'amount')::bigint, (ask->>'alert')::bigint)
    ON CONFLICT (key) DO UPDATE SET amount = EXCLUDED.amount, alert_amount = EXCLUDED.alert_amount
    RETURNING c.spent - c.forgiven INTO used;
    IF unsure_since IS NOT NULL THEN
      UPDATE limit_leases l SET amount = greatest(l.amount - l.changed, 0), changed = 0
      WHERE l.counter = counter_key AND l.holder = holder_name AND l.call > unsure_since AND l.call < call_number;
    END IF;
    SELECT coalesce(sum(l.amount) FILTER (WHERE l.expires_at > clock_timestamp()), 0),
      coalesce(max(l.call) FILTER (WHERE l.holder = holder_name), 0)
    INTO leased, last_call FROM limit_leases l WHERE l.counter = counter_key;
    free := (ask->>'amount')::bigint - used - leased - debt;
    IF call_number > 0 AND call_number <= last_call THEN
      granted := 0;
      RETURN;
    END IF;
    granted := CASE
      WHEN free - needed > 1000 * greatest(wanted, 1) THEN needed + least((ask->>'spare')::bigint, (free - needed) / 32)
      WHEN free >= needed THEN needed
      WHEN free >= wanted THEN wanted
      ELSE 0 END;
    free := free - granted;
    IF granted + debt > 0 OR unsure_since IS NOT NULL THEN
      INSERT INTO limit_leases AS l (counter, holder, amount, expires_at, call, changed)
      VALUES (counter_key, holder_name, granted + debt, clock_timestamp() + (ask->>'lease')::interval, call_number,
        granted + debt)
      ON CONFLICT (counter, holder) DO UPDATE SET expires_at = EXCLUDED.expires_at, call = EXCLUDED.call,
        changed = EXCLUDED.changed,
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

/** As before, with the same. */
const GIVE = `
  CREATE OR REPLACE FUNCTION give_back_limits(holder_name text, returns jsonb) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    one record;
    kept jsonb;
    mark record;
    rest bigint;
    part bigint;
  BEGIN
    FOR one IN SELECT r.* FROM jsonb_to_recordset(returns) AS r (key text, kind text, amount bigint, call bigint, unsure_since bigint)
      ORDER BY r.key COLLATE "C"
    LOOP
      IF one.kind <> 'window' THEN
        PERFORM 1 FROM limit_counters c WHERE c.key = one.key FOR UPDATE;
        IF one.unsure_since IS NOT NULL THEN
          INSERT INTO limit_leases (counter, holder, amount, expires_at)
          VALUES (one.key, holder_name, 0, clock_timestamp()) ON CONFLICT DO NOTHING;
        END IF;
        UPDATE limit_leases l SET amount = next.amount, call = next.call, changed = next.amount - next.before
        FROM (
          SELECT s.before, greatest(s.before - one.amount, 0) AS amount, coalesce(one.call, s.call) AS call
          FROM (
            SELECT h.call, CASE WHEN h.call > one.unsure_since THEN greatest(h.amount - h.changed, 0)
              ELSE h.amount END AS before
            FROM limit_leases h WHERE h.counter = one.key AND h.holder = holder_name
              AND (one.call IS NULL OR one.call = 0 OR h.call < one.call)
            FOR UPDATE
          ) AS s
        ) AS next
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

/** As before, but for what a clock that was set back has left behind. */
const WINDOW = `
  CREATE OR REPLACE FUNCTION take_window(ask jsonb, OUT granted bigint, OUT free bigint, OUT retry_ms bigint)
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
    FROM jsonb_each_text(kept) AS mark WHERE mark.key::bigint BETWEEN step - 99 AND step + 100;
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
