import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The functions that lease limits to processes, take back unused amounts, charge the cost of attempts, and read rates. Each call is one
 * statement that locks its counters in the order of their names, so that no two processes deadlock.
 */
export class LimitFunctions1763800000009 implements MigrationInterface {
  readonly name = 'LimitFunctions1763800000009';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [LEASE_POOL, LEASE_WINDOW, LEASE, RETURN, CHARGE, USED_RATES])
      await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION used_rates(jsonb);
      DROP FUNCTION charge_limits(jsonb);
      DROP FUNCTION return_limits(text, jsonb);
      DROP FUNCTION lease_limits(text, jsonb);
      DROP FUNCTION lease_window(jsonb);
      DROP FUNCTION lease_pool(text, jsonb);
    `);
  }
}

/**
 * Leases from a budget or from concurrency slots. Free means neither spent nor leased. If the rest does not cover all waiting requests,
 * only the first is served, and near the end nothing is leased ahead, so that no process holds an amount that it cannot use while another
 * has to refuse.
 *
 * A request that is refused because it is too large exhausts nothing. The event, which sends the alert, is also written when a request is
 * refused and less than a hundredth of the budget is left, because reservations rarely use a budget to its last unit.
 */
const LEASE_POOL = `
  CREATE FUNCTION lease_pool(holder_name text, ask jsonb, OUT granted bigint, OUT free bigint, OUT others bigint)
  LANGUAGE plpgsql AS $$
  DECLARE
    counter_key text := ask->>'key';
    wanted bigint := (ask->>'first')::bigint;
    needed bigint := (ask->>'need')::bigint;
    debt bigint := (ask->>'debt')::bigint;
    total bigint := (ask->>'amount')::bigint;
    used bigint;
    mine bigint;
    call_number bigint := coalesce((ask->>'call')::bigint, 0);
    unsure_since bigint := (ask->>'unsure_since')::bigint;
    last_call bigint;
    has_expired boolean;
  BEGIN
    INSERT INTO limit_counters AS c (key, organization_id, limit_id, measure, group_text, amount, alert_amount)
    VALUES (counter_key, (ask->>'organization')::uuid, (ask->>'limit')::uuid, ask->>'measure', ask->>'group',
      total, (ask->>'alert')::bigint)
    ON CONFLICT (key) DO UPDATE SET amount = EXCLUDED.amount, alert_amount = EXCLUDED.alert_amount
    RETURNING c.spent - c.forgiven INTO used;
    IF unsure_since IS NOT NULL THEN
      UPDATE limit_leases l SET amount = greatest(l.amount - l.changed, 0), changed = 0
      WHERE l.counter = counter_key AND l.holder = holder_name AND l.call > unsure_since AND l.call < call_number;
    END IF;
    SELECT coalesce(sum(l.amount) FILTER (WHERE l.holder = holder_name), 0),
      coalesce(sum(l.amount) FILTER (WHERE l.holder <> holder_name
        AND (l.doubts = 0 OR l.doubts = 1 AND l.expires_at > clock_timestamp())), 0),
      coalesce(max(l.call) FILTER (WHERE l.holder = holder_name), 0),
      coalesce(bool_or(l.holder <> holder_name AND l.amount > 0 AND l.expires_at <= clock_timestamp() AND l.doubts < 2),
        false)
    INTO mine, others, last_call, has_expired FROM limit_leases l WHERE l.counter = counter_key;
    IF has_expired THEN
      UPDATE limit_leases l SET doubts = l.doubts + 1, expires_at = clock_timestamp() + interval '2 seconds'
      WHERE l.counter = counter_key AND l.holder <> holder_name AND l.expires_at <= clock_timestamp() AND l.doubts < 2;
    END IF;
    free := total - used - mine - others - debt;
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
        changed = EXCLUDED.changed, doubts = 0, amount = EXCLUDED.amount + l.amount;
    END IF;
    IF ask->>'measure' <> 'concurrency' AND wanted > 0 AND granted = 0 AND used + wanted > total AND (total - used) * 100 < total THEN
      INSERT INTO limit_events (counter, kind, organization_id, limit_id, group_text, spent, amount)
      SELECT c.key, 'exhausted', c.organization_id, c.limit_id, c.group_text, c.spent - c.forgiven, c.amount
      FROM limit_counters c WHERE c.key = counter_key
      ON CONFLICT DO NOTHING;
    END IF;
  END
  $$`;

/**
 * Leases from a window that slides in steps of a hundredth of its length. Steps more than a window ahead do not count: the clock was set
 * back. `step` is the one that counts the grant.
 */
const LEASE_WINDOW = `
  CREATE FUNCTION lease_window(ask jsonb, OUT granted bigint, OUT free bigint, OUT retry_ms bigint, OUT step bigint)
  LANGUAGE plpgsql AS $$
  DECLARE
    step_ms bigint := greatest((ask->>'window')::bigint / 100, 1);
    now_ms bigint;
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
    retry_ms := greatest((least(coalesce(oldest, step), step) + 100) * step_ms - now_ms, 1);
    UPDATE limit_windows w SET marks = kept WHERE w.key = ask->>'key';
  END
  $$`;

/** Returns results in the order of the requests. `others` is what other processes hold of a counter. */
const LEASE = `
  CREATE FUNCTION lease_limits(holder_name text, asks jsonb)
  RETURNS TABLE (place bigint, granted bigint, free bigint, retry_ms bigint, others bigint, step bigint) LANGUAGE plpgsql AS $$
  DECLARE
    one record;
  BEGIN
    FOR one IN SELECT a.ask, a.at FROM jsonb_array_elements(asks) WITH ORDINALITY AS a (ask, at)
      ORDER BY a.ask->>'key' COLLATE "C"
    LOOP
      place := one.at;
      IF one.ask->>'kind' = 'window' THEN
        SELECT t.granted, t.free, t.retry_ms, 0, t.step INTO granted, free, retry_ms, others, step FROM lease_window(one.ask) AS t;
      ELSE
        SELECT t.granted, t.free, 0, t.others, 0 INTO granted, free, retry_ms, others, step
        FROM lease_pool(holder_name, one.ask) AS t;
      END IF;
      RETURN NEXT;
    END LOOP;
  END
  $$`;

/**
 * Returns amounts to the step of a window that counted the grant. A step releases no more than it counts, and nothing once it has left the
 * window. Then renews the leases that the process still holds; one that is being changed at the moment is renewed next time.
 */
const RETURN = `
  CREATE FUNCTION return_limits(holder_name text, returns jsonb) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    one record;
    kept jsonb;
    part record;
    counted bigint;
    oldest bigint;
  BEGIN
    FOR one IN SELECT r.* FROM jsonb_to_recordset(returns) AS r (key text, kind text, amount bigint, call bigint,
        unsure_since bigint, "window" bigint, steps jsonb)
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
      CONTINUE WHEN NOT FOUND OR one."window" IS NULL;
      oldest := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint / greatest(one."window" / 100, 1) - 99;
      FOR part IN SELECT p.step, p.amount FROM jsonb_to_recordset(one.steps) AS p (step bigint, amount bigint)
        WHERE p.step >= oldest
      LOOP
        counted := (kept->>part.step::text)::bigint;
        IF counted > part.amount THEN
          kept := jsonb_set(kept, ARRAY[part.step::text], to_jsonb((counted - part.amount)::text));
        ELSE
          kept := kept - part.step::text;
        END IF;
      END LOOP;
      UPDATE limit_windows w SET marks = kept WHERE w.key = one.key;
    END LOOP;
    UPDATE limit_leases l SET expires_at = clock_timestamp() + due.lease, doubts = 0
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
 * Adds the cost of attempts to their counters and subtracts it from the leases, in the transaction that stores the attempts: a counter is
 * always the sum of its attempts. Inserts an event for each threshold that was reached.
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

/**
 * Reads the use of rate and concurrency limits, for the administration. Windows and leases are shared tables that no tenant may read; this
 * function returns sums by rule id. A caller that has an id has read the rule, and ids cannot be guessed. `rates` is a list of `id` and
 * `window` (milliseconds; 0 for concurrency). A mark that is not a number counts as zero; the next request restarts such a window.
 */
const USED_RATES = `
  CREATE FUNCTION used_rates(rates jsonb) RETURNS TABLE (id text, used bigint)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT rate.id, CASE WHEN rate."window" > 0 THEN (
        SELECT coalesce(sum(CASE
          WHEN mark.key !~ '^[0-9]{1,18}$' OR mark.value !~ '^-?[0-9]{1,18}$' THEN 0
          WHEN mark.key::bigint BETWEEN clock.step - 99 AND clock.step + 100 THEN mark.value::bigint
          ELSE 0 END), 0)
        FROM limit_windows AS counted, jsonb_each_text(counted.marks) AS mark
        WHERE counted.key = rate.id AND jsonb_typeof(counted.marks) = 'object'
      ) ELSE (
        SELECT coalesce(sum(lease.amount), 0) FROM limit_leases AS lease
        WHERE lease.counter = rate.id AND lease.expires_at > clock_timestamp()
      ) END::bigint
    FROM jsonb_to_recordset(rates) AS rate (id text, "window" bigint),
      LATERAL (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
        / greatest(rate."window" / 100, 1) AS step) AS clock
  $$`;
