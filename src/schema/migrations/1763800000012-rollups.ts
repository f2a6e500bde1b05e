import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rollups by minute, hour and day, in two families, and the tables that keep them exact (docs/decisions/0017-analytics-rollups.md). */
export class Rollups1763800000012 implements MigrationInterface {
  readonly name = 'Rollups1763800000012';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [FUNCTIONS, ...FAMILIES, SUMS, ENSURE_PARTITION, BOOKS])
      await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE rollup_metadata_keys, rollup_seals, rollup_marks;
      DROP FUNCTION ensure_rollup_partition(text, timestamptz);
      DROP TABLE ${GRAINS.flatMap((grain) => [`usage_${grain}`, `usage_slice_${grain}`]).join(', ')};
      DROP FUNCTION rollup_key(text);
      DROP FUNCTION counts_quantile(jsonb, double precision);
      DROP FUNCTION merged_counts(jsonb[]);
      DROP FUNCTION counts_of(bigint[]);
      DROP FUNCTION histogram_bucket(bigint);
    `);
  }
}

const GRAINS = ['minute', 'hour', 'day'] as const;

/**
 * `histogram_bucket` is `bucketOf` of src/request-log/rollups: the exponent of a number and its first six mantissa bits are adjacent in the
 * bytes of a double, which represents whole numbers below 2^53 exactly. 65792 is 64 times the bias of 1023 and 5. One expression, not
 * strict, so that PostgreSQL inlines it: https://wiki.postgresql.org/wiki/Inlining_of_SQL_functions
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

/** Money in nano-dollars, times in microseconds; a `jsonb` holds how often each number occurred. */
const MEASURES = `
    requests                bigint NOT NULL,
    errors                  bigint NOT NULL,
    counted_requests        bigint NOT NULL,
    unpriced_requests       bigint NOT NULL,
    input_tokens            bigint NOT NULL,
    output_tokens           bigint NOT NULL,
    cached_input_tokens     bigint NOT NULL,
    cache_write_tokens      bigint NOT NULL,
    reasoning_tokens        bigint NOT NULL,
    audio_input_tokens      bigint NOT NULL,
    audio_output_tokens     bigint NOT NULL,
    cost_nano_usd           bigint NOT NULL,
    duration_us             bigint NOT NULL,
    first_token_requests    bigint NOT NULL,
    first_token_us          bigint NOT NULL,
    overhead_us             bigint NOT NULL,
    simple_hits             bigint NOT NULL,
    semantic_hits           bigint NOT NULL,
    hit_duration_us         bigint NOT NULL,
    simple_saved_nano_usd   bigint NOT NULL,
    semantic_saved_nano_usd bigint NOT NULL,
    fallback_rescues        bigint NOT NULL,
    retry_rescues           jsonb NOT NULL,
    statuses                jsonb NOT NULL,
    duration_histogram      jsonb NOT NULL,
    first_token_histogram   jsonb NOT NULL,
    overhead_histogram      jsonb NOT NULL,
    first_seen              timestamptz NOT NULL,
    last_seen               timestamptz NOT NULL`;

/**
 * End users are the slice with the most rows, and rows are wide: the columns queried by default are included in the index. Not for minutes,
 * because updated rows could then not use HOT updates.
 */
const BESIDE_KEY = ' INCLUDE (requests, cost_nano_usd)';

/**
 * `usage_…` holds a row for each combination that occurred; `key` is a hash of the combination, so that the index stays small whatever a
 * client calls its model. `usage_slice_…` holds a row for each value of one dimension at a time. Unknown is '' or the nil id, never null.
 *
 * `durations` and `users` hold, packed, what readers would otherwise recompute (src/request-log/rollups/ready.ts). Null in minutes, which
 * have the columns so that the tables of a family are alike. Hashes cannot be compressed (EXTERNAL).
 */
const FAMILIES = GRAINS.map(
  (grain) => `
  CREATE TABLE usage_${grain} (
    organisation_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    bucket          timestamptz NOT NULL,
    key             uuid NOT NULL,
    api_key_id      uuid NOT NULL,
    virtual_key     text NOT NULL,
    provider        text NOT NULL,
    model           text NOT NULL,
    endpoint        text NOT NULL,
    config_id       uuid NOT NULL,
    status          smallint NOT NULL,
    cache_status    text NOT NULL,${MEASURES},
    durations       bytea,
    PRIMARY KEY (organisation_id, workspace_id, bucket, key)
  ) PARTITION BY RANGE (bucket);
  SELECT protect_tenant_table('usage_${grain}', 'organisation_id', 'SELECT');

  CREATE TABLE usage_slice_${grain} (
    organisation_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    bucket          timestamptz NOT NULL,
    dimension       text NOT NULL,
    value           text NOT NULL,${MEASURES},
    users           bytea,
    PRIMARY KEY (organisation_id, workspace_id, dimension, bucket, value)${grain === 'minute' ? '' : BESIDE_KEY}
  ) PARTITION BY RANGE (bucket);
  ALTER TABLE usage_slice_${grain} ALTER COLUMN users SET STORAGE EXTERNAL;
  SELECT protect_tenant_table('usage_slice_${grain}', 'organisation_id', 'SELECT')`,
);

/**
 * Lets index-only scans add up hours and days. A row has 810 bytes, most of them histograms, and 30 days are some 58,000 rows: 46 MB to
 * read for a sum by provider. This index has the columns for groups and charts, but no histograms: some 250 bytes. Minutes have none:
 * updated rows could then not use HOT updates, and few of them are read.
 *
 * The dimensions are part of the key, so that a filter reads only the matching rows; the most used ones come first
 * (https://www.postgresql.org/docs/current/indexes-multicolumn.html).
 */
const SUMS = ['hour', 'day']
  .map(
    (grain) => `
  CREATE INDEX usage_${grain}_sums ON usage_${grain} (
    organisation_id, workspace_id, bucket,
    model, status, provider, api_key_id, virtual_key, endpoint, config_id, cache_status
  ) INCLUDE (
    requests, errors, cost_nano_usd, input_tokens, output_tokens, duration_us, simple_hits, semantic_hits, hit_duration_us,
    first_seen, last_seen
  )`,
  )
  .join(';');

/**
 * Creates the partition that holds a moment, unless it exists: a day of minutes, a month of hours or days, in UTC. ATTACH, unlike CREATE …
 * PARTITION OF, does not wait for transactions that write to other partitions:
 * https://www.postgresql.org/docs/current/ddl-partitioning.html#DDL-PARTITIONING-DECLARATIVE-MAINTENANCE
 *
 * Rows of the current minute change often, and free space in their page keeps that cheap (fillfactor). Rows of hours and days are only
 * replaced, so they need none. Index-only scans depend on vacuum, so it runs after changes to two in a hundred rows:
 * https://www.postgresql.org/docs/current/indexes-index-only-scans.html
 */
const ENSURE_PARTITION = `
  CREATE FUNCTION ensure_rollup_partition(parent text, moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    is_daily boolean := parent LIKE '%\\_minute';
    span interval := CASE WHEN is_daily THEN interval '1 day' ELSE interval '1 month' END;
    storage text := CASE WHEN is_daily THEN 'fillfactor = 70'
      ELSE 'fillfactor = 100, autovacuum_vacuum_insert_scale_factor = 0.02' END;
    first timestamp := date_trunc(CASE WHEN is_daily THEN 'day' ELSE 'month' END, moment AT TIME ZONE 'UTC');
    partition text := parent || '_' || to_char(first, CASE WHEN is_daily THEN 'YYYYMMDD' ELSE 'YYYYMM' END);
  BEGIN
    IF to_regclass(partition) IS NOT NULL THEN RETURN; END IF;
    EXECUTE format('LOCK TABLE ONLY %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
    IF to_regclass(partition) IS NOT NULL THEN RETURN; END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL) WITH (%s)', partition, parent, storage);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
      parent, partition, first AT TIME ZONE 'UTC', (first + span) AT TIME ZONE 'UTC');
  END
  $$`;

/**
 * `rollup_marks`: hours and days of a workspace that must be derived again, because a finer bucket changed. One workspace at a time: for
 * all tenants at once it exceeded the statement timeout. `rollup_seals`: everything before that time is gone; requests whose minutes are
 * gone are added to their hours. `rollup_metadata_keys`: metadata keys that have slices, for requests from that time on; incomplete while
 * they are being recounted.
 */
const BOOKS = `
  CREATE TABLE rollup_marks (
    grain           text NOT NULL CHECK (grain IN ('hour', 'day')),
    bucket          timestamptz NOT NULL,
    touched_at      timestamptz NOT NULL DEFAULT now(),
    organisation_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    PRIMARY KEY (grain, bucket, organisation_id, workspace_id)
  );
  SELECT protect_tenant_table('rollup_marks', 'organisation_id', 'SELECT');

  CREATE TABLE rollup_seals (
    grain  text PRIMARY KEY CHECK (grain IN ('row', 'minute')),
    before timestamptz NOT NULL DEFAULT '-infinity'
  );
  INSERT INTO rollup_seals (grain) VALUES ('row'), ('minute');

  CREATE TABLE rollup_metadata_keys (
    key            text PRIMARY KEY,
    counted_since  timestamptz NOT NULL,
    complete_since timestamptz NOT NULL
  );
  SELECT grant_to_tenants('rollup_seals', 'SELECT'), grant_to_tenants('rollup_metadata_keys', 'SELECT')`;
