import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Groups of requests that are counted in the background, because the request rows of their range take too long for one query
 * (src/jobs/analytics). Their totals grow part by part with the cursor of their job, in one transaction.
 */
export class AnalyticsJobs1763800020070 implements MigrationInterface {
  readonly name = 'AnalyticsJobs1763800020070';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(JOBS);
    await runner.query(GROUPS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DELETE FROM tenant_grants WHERE table_name IN ('analytics_jobs', 'analytics_job_groups');
      DROP TABLE analytics_job_groups, analytics_jobs`);
  }
}

/**
 * `identity`: a hash of the query and of the caller's scope. `sees_only_of`: the user whose own traffic is counted; null for all traffic in
 * scope. Requests before `cursor_at` are counted. `expires_at`: until when a running job must have finished, and a finished one is kept.
 */
const JOBS = `
  CREATE TABLE analytics_jobs (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    workspace_id    uuid,
    sees_only_of    uuid,
    identity        text NOT NULL,
    query           jsonb NOT NULL,
    from_at         timestamptz NOT NULL,
    to_at           timestamptz NOT NULL,
    cursor_at       timestamptz NOT NULL,
    is_exact        boolean NOT NULL DEFAULT true,
    status          text NOT NULL DEFAULT 'in_progress' CHECK (status IN ('in_progress', 'success', 'failed')),
    problem         text,
    run             integer NOT NULL DEFAULT 0,
    tries           integer NOT NULL DEFAULT 0,
    leased_until    timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL,
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
  );
  CREATE UNIQUE INDEX analytics_jobs_same ON analytics_jobs (organization_id, identity) WHERE status <> 'failed';
  CREATE INDEX analytics_jobs_running ON analytics_jobs (leased_until) WHERE status = 'in_progress';
  CREATE INDEX analytics_jobs_expiring ON analytics_jobs (expires_at);
  SELECT protect_tenant_table('analytics_jobs')`;

/** Totals of the measures that columns of groups are computed from, as in the rollups. Histograms only if percentiles are requested. */
const GROUPS = `
  CREATE TABLE analytics_job_groups (
    job_id             uuid NOT NULL REFERENCES analytics_jobs (id) ON DELETE CASCADE,
    organization_id    uuid NOT NULL,
    value              text NOT NULL,
    requests           bigint NOT NULL,
    errors             bigint NOT NULL,
    refusals           bigint NOT NULL,
    input_tokens       bigint NOT NULL,
    output_tokens      bigint NOT NULL,
    cost_nano_usd      bigint NOT NULL,
    duration_us        bigint NOT NULL,
    simple_hits        bigint NOT NULL,
    semantic_hits      bigint NOT NULL,
    duration_histogram jsonb NOT NULL DEFAULT '{}',
    first_seen         timestamptz NOT NULL,
    last_seen          timestamptz NOT NULL,
    PRIMARY KEY (job_id, value)
  );
  SELECT protect_tenant_table('analytics_job_groups', 'organization_id', 'SELECT, INSERT, UPDATE')`;
