import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The rollups by minute, hour and day, in two families, and what keeps them exact. They replace `usage_minute`; the
 * batches that it had counted are counted again, because the request rows are still there.
 */
export class Rollups1763690600000 implements MigrationInterface {
  readonly name = 'Rollups1763690600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('DROP FUNCTION ensure_usage_minute_day(date); DROP TABLE usage_minute');
    for (const statements of [REQUEST_COLUMNS, FUNCTIONS, ...FAMILIES, ENSURE_PARTITION, BOOKS, COUNT_AGAIN])
      await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const grain of GRAINS) await runner.query(`DROP TABLE usage_${grain}, usage_slice_${grain}`);
    await runner.query(`
      DROP TABLE rollup_marks, rollup_seals, rollup_metadata_keys;
      DROP FUNCTION ensure_rollup_partition(text, timestamptz);
      DROP FUNCTION histogram_bucket(bigint);
      DROP FUNCTION counts_of(bigint[]);
      DROP FUNCTION merged_counts(jsonb[]);
      DROP FUNCTION counts_quantile(jsonb, double precision);
      DROP FUNCTION rollup_key(text);
    `);
    await runner.query(FORMER_USAGE_MINUTE);
    await runner.query(COUNT_AGAIN);
  }
}

/**
 * What the data plane may tell of a request beyond what it told before; null where it says nothing.
 * `retry_count`: further tries at the target of the try before; `fallback_count`: changes of the target.
 * `saved_nano_usd`: what an answer from the cache would have cost.
 */
const REQUEST_COLUMNS = `
  ALTER TABLE request_logs
    ADD COLUMN IF NOT EXISTS prompt_slug text,
    ADD COLUMN IF NOT EXISTS cache_status text,
    ADD COLUMN IF NOT EXISTS saved_nano_usd bigint,
    ADD COLUMN IF NOT EXISTS retry_count smallint,
    ADD COLUMN IF NOT EXISTS fallback_count smallint`;

/**
 * `histogram_bucket` is `bucketOf` of src/request-log/rollups: the exponent of a number and the first six bits behind it
 * stand together in the bytes of a double, which holds whole numbers below 2^53 exactly. 65792 is 64 times the bias of
 * 1023 and 5. One expression, not strict, so that PostgreSQL puts it in the place of the call:
 * https://wiki.postgresql.org/wiki/Inlining_of_SQL_functions
 */
const FUNCTIONS = `
  CREATE FUNCTION histogram_bucket(value bigint) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN value < 64 THEN greatest(value, 0)::integer
      ELSE (get_byte(float8send(value::float8), 0) & 127) * 1024 + get_byte(float8send(value::float8), 1) * 4
        + (get_byte(float8send(value::float8), 2) >> 6) - 65792
    END
  $$;
  CREATE FUNCTION counts_of(given bigint[]) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(jsonb_object_agg(value, count), '{}'::jsonb)
    FROM (SELECT value, count(*) AS count FROM unnest(given) AS value WHERE value IS NOT NULL GROUP BY value) AS counted
  $$;
  CREATE FUNCTION merged_counts(given jsonb[]) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(jsonb_object_agg(key, count), '{}'::jsonb)
    FROM (
      SELECT each.key, sum(each.value::bigint) AS count
      FROM unnest(given) AS counts CROSS JOIN LATERAL jsonb_each_text(counts) AS each
      GROUP BY each.key
    ) AS merged
  $$;
  CREATE FUNCTION counts_quantile(counts jsonb, share double precision) RETURNS integer
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT value FROM (
      SELECT key::integer AS value, sum(value::bigint) OVER (ORDER BY key::integer) AS seen,
        sum(value::bigint) OVER () AS total
      FROM jsonb_each_text(counts)
    ) AS ranked
    WHERE seen >= greatest(1, ceil(share * total)) ORDER BY value LIMIT 1
  $$;
  CREATE FUNCTION rollup_key(dimensions text) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT encode(substr(sha256(convert_to(dimensions, 'UTF8')), 1, 16), 'hex')::uuid
  $$`;

const GRAINS = ['minute', 'hour', 'day'] as const;

/** Money in nano-dollars, times in microseconds; a `jsonb` holds how often each number occurred. */
const MEASURES = `
    requests bigint NOT NULL,
    errors bigint NOT NULL,
    counted_requests bigint NOT NULL,
    unpriced_requests bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cached_input_tokens bigint NOT NULL,
    cache_write_tokens bigint NOT NULL,
    reasoning_tokens bigint NOT NULL,
    audio_input_tokens bigint NOT NULL,
    audio_output_tokens bigint NOT NULL,
    cost_nano_usd bigint NOT NULL,
    duration_us bigint NOT NULL,
    first_token_requests bigint NOT NULL,
    first_token_us bigint NOT NULL,
    overhead_us bigint NOT NULL,
    simple_hits bigint NOT NULL,
    semantic_hits bigint NOT NULL,
    hit_duration_us bigint NOT NULL,
    simple_saved_nano_usd bigint NOT NULL,
    semantic_saved_nano_usd bigint NOT NULL,
    fallback_rescues bigint NOT NULL,
    retry_rescues jsonb NOT NULL,
    statuses jsonb NOT NULL,
    duration_histogram jsonb NOT NULL,
    first_token_histogram jsonb NOT NULL,
    overhead_histogram jsonb NOT NULL,
    first_seen timestamptz NOT NULL,
    last_seen timestamptz NOT NULL`;

/**
 * `usage_…` holds a row for each combination that occurred; `key` is a hash of the combination, so that the index stays
 * small whatever a client calls its model. `usage_slice_…` holds a row for each value of one dimension at a time.
 * Unknown is '' or the nil id, never null.
 */
const FAMILIES = GRAINS.map(
  (grain) => `
  CREATE TABLE usage_${grain} (
    organisation_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    bucket timestamptz NOT NULL,
    key uuid NOT NULL,
    api_key_id uuid NOT NULL,
    virtual_key text NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    endpoint text NOT NULL,
    config_id uuid NOT NULL,
    status smallint NOT NULL,
    cache_status text NOT NULL,
    ${MEASURES},
    PRIMARY KEY (organisation_id, workspace_id, bucket, key)
  ) PARTITION BY RANGE (bucket);
  CREATE TABLE usage_slice_${grain} (
    organisation_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    bucket timestamptz NOT NULL,
    dimension text NOT NULL,
    value text NOT NULL,
    ${MEASURES},
    PRIMARY KEY (organisation_id, workspace_id, dimension, bucket, value)
  ) PARTITION BY RANGE (bucket)`,
);

/**
 * Makes the partition that holds a moment, unless it is there: a day of minutes, a month of hours or days, in UTC.
 * ATTACH, unlike CREATE … PARTITION OF, does not wait for those who write to other partitions:
 * https://www.postgresql.org/docs/current/ddl-partitioning.html#DDL-PARTITIONING-DECLARATIVE-MAINTENANCE
 * Rows of the running minute change often, and room in their page keeps that cheap (fillfactor).
 */
const ENSURE_PARTITION = `
  CREATE FUNCTION ensure_rollup_partition(parent text, moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    is_daily boolean := parent LIKE '%\\_minute';
    span interval := CASE WHEN is_daily THEN interval '1 day' ELSE interval '1 month' END;
    first timestamp := date_trunc(CASE WHEN is_daily THEN 'day' ELSE 'month' END, moment AT TIME ZONE 'UTC');
    partition text := parent || '_' || to_char(first, CASE WHEN is_daily THEN 'YYYYMMDD' ELSE 'YYYYMM' END);
  BEGIN
    IF to_regclass(partition) IS NOT NULL THEN RETURN; END IF;
    EXECUTE format('LOCK TABLE ONLY %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
    IF to_regclass(partition) IS NOT NULL THEN RETURN; END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL) WITH (fillfactor = 70)', partition, parent);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
      parent, partition, first AT TIME ZONE 'UTC', (first + span) AT TIME ZONE 'UTC');
  END
  $$`;

/**
 * `rollup_marks`: hours and days that must be derived again, because something below them changed.
 * `rollup_seals`: everything before that moment is gone; requests whose minutes are gone are added to their hours.
 * `rollup_metadata_keys`: keys of the metadata that have slices, for requests from that moment on; while
 * they are counted again, completeness is still to come.
 */
const BOOKS = `
  CREATE TABLE rollup_marks (
    grain text NOT NULL CHECK (grain IN ('hour', 'day')),
    bucket timestamptz NOT NULL,
    touched_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (grain, bucket)
  );
  CREATE TABLE rollup_seals (
    grain text PRIMARY KEY CHECK (grain IN ('row', 'minute')),
    before timestamptz NOT NULL DEFAULT '-infinity'
  );
  INSERT INTO rollup_seals (grain) VALUES ('row'), ('minute');
  CREATE TABLE rollup_metadata_keys (
    key text PRIMARY KEY,
    counted_since timestamptz NOT NULL,
    complete_since timestamptz NOT NULL
  )`;

const COUNT_AGAIN = 'UPDATE log_batches SET aggregated_at = NULL WHERE aggregated_at IS NOT NULL';

/** As the migration of that name made it. */
const FORMER_USAGE_MINUTE = `
  CREATE TABLE usage_minute (
    minute timestamptz NOT NULL, organisation_id text NOT NULL, workspace_id text NOT NULL, api_key_id text NOT NULL,
    virtual_key_id text NOT NULL, provider text NOT NULL, model text NOT NULL, endpoint text NOT NULL,
    status smallint NOT NULL, status_class smallint NOT NULL GENERATED ALWAYS AS (status / 100) STORED,
    requests bigint NOT NULL, counted_requests bigint NOT NULL, unpriced_requests bigint NOT NULL,
    input_tokens bigint NOT NULL, output_tokens bigint NOT NULL, cached_input_tokens bigint NOT NULL,
    reasoning_tokens bigint NOT NULL, cost_nano_usd bigint NOT NULL, duration_us bigint NOT NULL,
    first_token_us bigint NOT NULL, duration_histogram jsonb NOT NULL, first_token_histogram jsonb NOT NULL,
    PRIMARY KEY (minute, organisation_id, workspace_id, api_key_id, virtual_key_id, provider, model, endpoint, status)
  ) PARTITION BY RANGE (minute);
  CREATE INDEX usage_minute_of_workspace ON usage_minute (organisation_id, workspace_id, minute);
  CREATE FUNCTION ensure_usage_minute_day(day date) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    partition text := 'usage_minute_' || to_char(day, 'YYYYMMDD');
  BEGIN
    IF to_regclass(partition) IS NOT NULL THEN RETURN; END IF;
    LOCK TABLE ONLY usage_minute IN SHARE UPDATE EXCLUSIVE MODE;
    IF to_regclass(partition) IS NOT NULL THEN RETURN; END IF;
    EXECUTE format('CREATE TABLE %I (LIKE usage_minute INCLUDING ALL) WITH (fillfactor = 70)', partition);
    EXECUTE format('ALTER TABLE usage_minute ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
      partition, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
  END
  $$`;
