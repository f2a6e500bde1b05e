import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What was used in each minute, by everything that analytics group by.
 *
 * Key columns are never null ('' says unknown), so that the primary key finds the row to add to. Partitions hold a
 * day in UTC and are made when the first batch of that day is counted; retention drops them.
 */
export class UsageMinute1763690200000 implements MigrationInterface {
  readonly name = 'UsageMinute1763690200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const statements of [USAGE_MINUTE, MERGE_HISTOGRAMS, ENSURE_DAY, WHOLE_ORGANISATION])
      await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      DROP INDEX request_logs_of_organisation;
      DROP FUNCTION ensure_usage_minute_day(date);
      DROP TABLE usage_minute;
      DROP FUNCTION merge_histograms(jsonb, jsonb);
    `);
  }
}

/** Histograms count microseconds: an object of bucket number to count (src/request-log/rollups). */
const USAGE_MINUTE = `
  CREATE TABLE usage_minute (
    minute timestamptz NOT NULL,
    organisation_id text NOT NULL,
    workspace_id text NOT NULL,
    api_key_id text NOT NULL,
    virtual_key_id text NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    endpoint text NOT NULL,
    status smallint NOT NULL,
    status_class smallint NOT NULL GENERATED ALWAYS AS (status / 100) STORED,
    requests bigint NOT NULL,
    counted_requests bigint NOT NULL,
    unpriced_requests bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cached_input_tokens bigint NOT NULL,
    reasoning_tokens bigint NOT NULL,
    cost_nano_usd bigint NOT NULL,
    duration_us bigint NOT NULL,
    first_token_us bigint NOT NULL,
    duration_histogram jsonb NOT NULL,
    first_token_histogram jsonb NOT NULL,
    PRIMARY KEY (minute, organisation_id, workspace_id, api_key_id, virtual_key_id, provider, model, endpoint, status)
  ) PARTITION BY RANGE (minute);
  CREATE INDEX usage_minute_of_workspace ON usage_minute (organisation_id, workspace_id, minute)`;

const MERGE_HISTOGRAMS = `
  CREATE FUNCTION merge_histograms(one jsonb, other jsonb) RETURNS jsonb
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT coalesce(jsonb_object_agg(bucket, count), '{}'::jsonb)
    FROM (
      SELECT key AS bucket, sum(value::bigint) AS count
      FROM (SELECT * FROM jsonb_each_text(one) UNION ALL SELECT * FROM jsonb_each_text(other)) AS both_of_them
      GROUP BY key
    ) AS merged
  $$`;

/**
 * Makes the partition of a day unless it is there. Several processes may ask at once: they take turns by the lock
 * that ATTACH needs anyway, and which lets those pass who write.
 *
 * ATTACH, unlike CREATE … PARTITION OF, does not wait for those who write to other days:
 * https://www.postgresql.org/docs/current/ddl-partitioning.html#DDL-PARTITIONING-DECLARATIVE-MAINTENANCE
 * Rows of the running minute change often, and room in their page keeps that cheap (fillfactor).
 */
const ENSURE_DAY = `
  CREATE FUNCTION ensure_usage_minute_day(day date) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    partition text := 'usage_minute_' || to_char(day, 'YYYYMMDD');
  BEGIN
    IF to_regclass(partition) IS NOT NULL THEN RETURN; END IF;
    LOCK TABLE ONLY usage_minute IN SHARE UPDATE EXCLUSIVE MODE;
    IF to_regclass(partition) IS NOT NULL THEN RETURN; END IF;
    EXECUTE format('CREATE TABLE %I (LIKE usage_minute INCLUDING ALL) WITH (fillfactor = 70)', partition);
    EXECUTE format(
      'ALTER TABLE usage_minute ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
      partition, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC'
    );
  END
  $$`;

/** Admin keys read the newest requests of every workspace at once; the index by workspace cannot give them in order. */
const WHOLE_ORGANISATION = `
  CREATE INDEX request_logs_of_organisation ON request_logs (organisation_id, created_at DESC, id DESC)`;
