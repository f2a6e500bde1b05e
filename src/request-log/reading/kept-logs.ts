import { Inject, Injectable } from '@nestjs/common';
import { KeptTimes, type RetentionRule } from '../retention/kept-times.js';
import { RULES_OF_ORGANIZATION } from '../retention/read-rules.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import type { BindTyped, QueryCondition } from './log-filters.js';
import { LogDatabase } from './log-database.js';

interface RetentionScope {
  readonly organizationId: string;
  readonly workspaceId?: string | undefined;
}

/** The columns of a request that determine how long its bodies are kept. */
interface RetentionRow {
  readonly created_at: Date;
  readonly organisation_id: string;
  readonly workspace_id: string | null;
}

/**
 * Decides which requests may still be read. Expired rows and bodies may remain in their partition for some days; every reader of request
 * rows adds these conditions, which hide them as soon as they expire.
 */
@Injectable()
export class KeptLogs {
  constructor(
    private readonly database: LogDatabase,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'retentionDays'>,
  ) {}

  /** For a query of request rows in this scope. */
  async conditions(whose: RetentionScope): Promise<readonly QueryCondition[]> {
    return retentionConditions(await this.times(whose.organizationId), whose);
  }

  /** The time from which all requests of this scope are still kept. */
  async since({ organizationId, workspaceId }: RetentionScope): Promise<number> {
    const times = await this.times(organizationId);
    const ids = workspaceId === undefined ? [null, ...times.workspacesOf(organizationId)] : [workspaceId];
    return Math.max(
      ...ids.map((workspace_id) => times.since('logs', { organization_id: organizationId, workspace_id })),
    );
  }

  /** The requests of one organization whose bodies may be read. */
  async withBodies<Row extends RetentionRow>(rows: readonly Row[]): Promise<readonly Row[]> {
    const [first] = rows;
    if (!first) return [];
    const times = await this.times(first.organisation_id);
    return rows.filter(
      ({ created_at, organisation_id: organization_id, workspace_id }) =>
        created_at.getTime() >= times.since('bodies', { organization_id, workspace_id }),
    );
  }

  private async times(organizationId: string): Promise<KeptTimes> {
    const rules = await this.database.read<RetentionRule>(RULES_OF_ORGANIZATION, [organizationId]);
    return new KeptTimes(this.settings.retentionDays, rules);
  }
}

/**
 * The first condition is one time for all rows, with which the database prunes days. Further ones follow for workspaces in scope whose
 * retention differs from their organization's.
 */
export function retentionConditions(
  times: KeptTimes,
  { organizationId, workspaceId }: RetentionScope,
): readonly QueryCondition[] {
  const sinceOf = (workspace_id: string | null): number =>
    times.since('logs', { organization_id: organizationId, workspace_id });
  if (workspaceId !== undefined) return notBefore(sinceOf(workspaceId));
  const apart = times.workspacesOf(organizationId);
  const groups = new Map<number, string[]>();
  for (const id of apart) {
    const since = sinceOf(id);
    const group = groups.get(since);
    if (group) group.push(id);
    else groups.set(since, [id]);
  }
  const usual = sinceOf(null);
  const floor = Math.min(usual, ...groups.keys());
  const conditions = [...notBefore(floor)];
  for (const [since, ids] of groups)
    if (since > floor) conditions.push(notBeforeUnless(since, 'all but these', ids));
  if (usual > floor) conditions.push(notBeforeUnless(usual, 'these', apart));
  return conditions;
}

const notBefore = (since: number): QueryCondition[] =>
  since === -Infinity
    ? []
    : [
        {
          sql: (placeholder) => `created_at >= ${placeholder}::timestamptz`,
          parameter: new Date(since).toISOString(),
          on: null,
          inClickHouse: { sql: (bind) => notBeforeInClickHouse(bind, since) },
        },
      ];

const notBeforeInClickHouse = (bind: BindTyped, since: number): string =>
  `created_at >= fromUnixTimestamp64Milli(${bind(since, 'Int64')}, 'UTC')`;

type Exempt = 'these' | 'all but these';

const IN_POSTGRES: Readonly<Record<Exempt, QueryCondition['sql']>> = {
  these: (ids) => `(workspace_id = ANY(${ids}::uuid[])) IS TRUE`,
  'all but these': (ids) => `(workspace_id = ANY(${ids}::uuid[])) IS NOT TRUE`,
};

/** There the workspace id of requests without a workspace is the nil id, never null. */
const IN_CLICKHOUSE: Readonly<Record<Exempt, (ids: string) => string>> = {
  these: (ids) => `workspace_id IN ${ids}`,
  'all but these': (ids) => `workspace_id NOT IN ${ids}`,
};

/** For all rows except those of some workspaces. The time is computed here and is not caller input. */
const notBeforeUnless = (since: number, exempt: Exempt, ids: readonly string[]): QueryCondition => ({
  sql: (placeholder) =>
    `(created_at >= '${new Date(since).toISOString()}'::timestamptz OR ${IN_POSTGRES[exempt](placeholder)})`,
  parameter: ids,
  on: null,
  inClickHouse: {
    sql: (bind) =>
      `(${notBeforeInClickHouse(bind, since)} OR ${IN_CLICKHOUSE[exempt](bind(ids, 'Array(UUID)'))})`,
  },
});
