import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Hours and days are derived for one workspace at a time: for all tenants at once it took longer than a statement may, and a
 * request of one that came late sent all others to finer rollups. What was marked is marked for everybody who has something in it.
 */
export class MarksOfWorkspaces1763760000001 implements MigrationInterface {
  readonly name = 'MarksOfWorkspaces1763760000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      CREATE TEMPORARY TABLE former_marks ON COMMIT DROP AS SELECT * FROM rollup_marks;
      TRUNCATE rollup_marks;
      ALTER TABLE rollup_marks DROP CONSTRAINT rollup_marks_pkey,
        ADD COLUMN organisation_id uuid NOT NULL, ADD COLUMN workspace_id uuid NOT NULL,
        ADD PRIMARY KEY (grain, bucket, organisation_id, workspace_id);
      SELECT protect_tenant_table('rollup_marks', 'organisation_id', 'SELECT');
    `);
    await runner.query(marksFrom('hour', ['usage_slice_minute', 'usage_slice_hour']));
    await runner.query(marksFrom('day', ['usage_slice_hour', 'usage_slice_day']));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      CREATE TEMPORARY TABLE former_marks ON COMMIT DROP AS
        SELECT grain, bucket, max(touched_at) AS touched_at FROM rollup_marks GROUP BY grain, bucket;
      TRUNCATE rollup_marks;
      DROP POLICY of_own_organization ON rollup_marks;
      ALTER TABLE rollup_marks DISABLE ROW LEVEL SECURITY;
      ALTER TABLE rollup_marks DROP CONSTRAINT rollup_marks_pkey, DROP COLUMN organisation_id, DROP COLUMN workspace_id,
        ADD PRIMARY KEY (grain, bucket);
      INSERT INTO rollup_marks (grain, bucket, touched_at) SELECT grain, bucket, touched_at FROM former_marks;
    `);
  }
}

const marksFrom = (grain: 'hour' | 'day', tables: readonly string[]): string => `
  INSERT INTO rollup_marks (grain, bucket, organisation_id, workspace_id, touched_at)
  SELECT DISTINCT mark.grain, mark.bucket, below.organisation_id, below.workspace_id, mark.touched_at
  FROM former_marks AS mark JOIN (
    ${tables.map((table) => `SELECT organisation_id, workspace_id, bucket FROM ${table} WHERE dimension = 'all'`).join(' UNION ALL ')}
  ) AS below ON below.bucket >= mark.bucket AND below.bucket < mark.bucket + interval '1 ${grain}'
  WHERE mark.grain = '${grain}'`;
