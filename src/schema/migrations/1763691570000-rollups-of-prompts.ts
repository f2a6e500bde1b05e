import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Counts by prompt ahead as well, packs rollups of hours and days more densely, and lets end users be counted in the index alone.
 *
 * Requests that are counted already named no prompt, because nothing set one: for them the slice is that of all requests. (A
 * process of the version before that still counts while this runs leaves its last batches to `gatehouse rebuild rollups`.)
 * Rows of hours and days are never changed, only replaced whole, so the room that minutes leave for changes (fillfactor) was
 * wasted there; partitions that are made from now on have none.
 *
 * End users are the slice with the most rows, and a row is wide: what is asked of them by default stands beside the key of the index. Of
 * minutes it must not, because a row that changes could then not stay where it is. An index can answer alone where
 * vacuum has been, so that comes after every two in a hundred rows:
 * https://www.postgresql.org/docs/current/indexes-index-only-scans.html
 */
export class RollupsOfPrompts1763691570000 implements MigrationInterface {
  readonly name = 'RollupsOfPrompts1763691570000';

  async up(runner: QueryRunner): Promise<void> {
    for (const grain of GRAINS) {
      const columns = await columnsOf(runner, `usage_slice_${grain}`);
      await runner.query(`
        INSERT INTO usage_slice_${grain} (dimension, value, ${columns})
        SELECT 'prompt_slug', '', ${columns} FROM usage_slice_${grain} WHERE dimension = 'all'
        ON CONFLICT DO NOTHING`);
    }
    for (const grain of ['hour', 'day'] as const) await runner.query(primaryKey(grain, BESIDE));
    await runner.query(ensurePartition('fillfactor = 100, autovacuum_vacuum_insert_scale_factor = 0.02'));
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const grain of GRAINS)
      await runner.query(`DELETE FROM usage_slice_${grain} WHERE dimension = 'prompt_slug'`);
    for (const grain of ['hour', 'day'] as const) await runner.query(primaryKey(grain, ''));
    await runner.query(ensurePartition('fillfactor = 70'));
  }
}

const GRAINS = ['minute', 'hour', 'day'] as const;

const BESIDE = 'INCLUDE (requests, cost_nano_usd)';

const primaryKey = (grain: string, beside: string): string => `
  ALTER TABLE usage_slice_${grain} DROP CONSTRAINT usage_slice_${grain}_pkey,
    ADD PRIMARY KEY (organisation_id, workspace_id, dimension, bucket, value) ${beside}`;

/** All but those that tell the slices apart. */
async function columnsOf(runner: QueryRunner, table: string): Promise<string> {
  const [row] = (await runner.query(
    `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attname NOT IN ('dimension', 'value')`,
    [table],
  )) as { columns: string }[];
  return row?.columns ?? '';
}

/** As it was made with the rollups, but for how hours and days are stored. */
const ensurePartition = (storage: string): string => `
  CREATE OR REPLACE FUNCTION ensure_rollup_partition(parent text, moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    is_daily boolean := parent LIKE '%\\_minute';
    span interval := CASE WHEN is_daily THEN interval '1 day' ELSE interval '1 month' END;
    storage text := CASE WHEN is_daily THEN 'fillfactor = 70' ELSE '${storage}' END;
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
