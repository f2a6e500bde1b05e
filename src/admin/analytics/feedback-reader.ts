import { Injectable } from '@nestjs/common';
import type { Reach } from '../../auth/tenant.js';
import { KeptLogs } from '../../request-log/reading/kept-logs.js';
import { LogDatabase } from '../../request-log/reading/log-database.js';
import { type QueryCondition } from '../../request-log/reading/log-filters.js';
import type { FeedbackCount } from './feedback-graphs.js';
import { QueryParameters } from '../../request-log/analytics/postgres/statement.js';
import type { UsageQuery } from '../../request-log/analytics/usage-store.js';
import { labelSql } from '../../request-log/rollups/labels.js';

export interface FeedbackOfGroup {
  readonly avg_weighted_feedback: number;
  readonly requests_with_feedback: number;
}

/** The requests of a feedback's trace. */
const OF_TRACE = `request_logs.organisation_id = feedback.organization_id
  AND request_logs.workspace_id = feedback.workspace_id AND request_logs.trace_id = feedback.trace_id`;

/** The newest matching request determines the model: a trace may have requests that the caller must not see. */
const modelOf = (fitting: string): string =>
  `coalesce((SELECT model FROM request_logs WHERE ${OF_TRACE} ${fitting} ORDER BY created_at DESC LIMIT 1), '')`;

/** Counts feedback by its creation time. Filters apply to the requests of its trace: one of them must match. */
@Injectable()
export class FeedbackReader {
  constructor(
    private readonly database: LogDatabase,
    private readonly kept: KeptLogs,
  ) {}

  async read(reach: Reach, query: UsageQuery, slots: readonly number[]): Promise<readonly FeedbackCount[]> {
    const statement = new QueryParameters();
    const starts = statement.bind(slots.map((slot) => new Date(slot)));
    const kept = filters(statement, await this.kept.conditions(reach));
    const fitting = `${kept} ${filters(statement, query.conditions)}`;
    const where = this.where(statement, reach, { ...query, fitting });
    const rows = await this.database.read<{ [Name in keyof FeedbackCount]: string }>(
      `SELECT width_bucket(created_at, ${starts}::timestamptz[]) - 1 AS slot, value AS score, ai_model,
         count(*) AS count, sum(value * weight) AS weighted
       FROM (SELECT *, ${modelOf(fitting)} AS ai_model FROM feedback WHERE ${where}) AS given GROUP BY 1, 2, 3`,
      statement.parameters,
    );
    return rows.map(({ slot, score, ai_model, count, weighted }) => ({
      slot: Number(slot),
      score: Number(score),
      ai_model,
      count: Number(count),
      weighted: Number(weighted),
    }));
  }

  /** Feedback on the requests with these metadata values. */
  async byMetadata(
    reach: Reach,
    { range, conditions }: UsageQuery,
    { key, values }: { readonly key: string; readonly values: readonly string[] },
  ): Promise<ReadonlyMap<string, FeedbackOfGroup>> {
    const statement = new QueryParameters();
    const value = labelSql(`coalesce(metadata ->> ${statement.bind(key)}::text, '')`);
    const tenant = statement.tenant(reach);
    const kept = filters(statement, await this.kept.conditions(reach));
    const rows = await this.database.read<{ value: string; weighted: number; requests: string }>(
      `SELECT ${value} AS value, avg(given.weighted) AS weighted, count(*) AS requests
       FROM request_logs CROSS JOIN LATERAL (
         SELECT avg(feedback.value * feedback.weight)::float8 AS weighted FROM feedback WHERE ${OF_TRACE}
       ) AS given
       WHERE ${tenant} AND trace_id IN (SELECT trace_id FROM feedback WHERE organization_id = $2::uuid)
         AND created_at >= ${statement.bind(new Date(range.from))} AND created_at < ${statement.bind(new Date(range.to))}
         AND ${value} = ANY(${statement.bind(values)}::text[]) AND given.weighted IS NOT NULL
         ${kept} ${filters(statement, conditions)}
       GROUP BY 1`,
      statement.parameters,
    );
    return new Map(
      rows.map(({ value: name, weighted, requests }) => [
        name,
        { avg_weighted_feedback: weighted, requests_with_feedback: Number(requests) },
      ]),
    );
  }

  private where(
    statement: QueryParameters,
    { organizationId, workspaceId }: Reach,
    { range, conditions, fitting }: UsageQuery & { readonly fitting: string },
  ): string {
    const parts = [
      `organization_id = ${statement.bind(organizationId)}::uuid`,
      ...(workspaceId === undefined ? [] : [`workspace_id = ${statement.bind(workspaceId)}::uuid`]),
      `created_at >= ${statement.bind(new Date(range.from))}::timestamptz`,
      `created_at < ${statement.bind(new Date(range.to))}::timestamptz`,
    ];
    if (conditions.length > 0) parts.push(`EXISTS (SELECT 1 FROM request_logs WHERE ${OF_TRACE} ${fitting})`);
    return parts.join(' AND ');
  }
}

const filters = (statement: QueryParameters, conditions: readonly QueryCondition[]): string =>
  conditions.map(({ sql, parameter }) => `AND ${sql(statement.bind(parameter))}`).join(' ');
