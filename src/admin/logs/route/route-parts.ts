import { Injectable } from '@nestjs/common';
import type { RoutingConfig } from '../../../routing-config/document.js';
import { LogDatabase } from '../../../request-log/reading/log-database.js';
import type { LogRow } from '../../../request-log/reading/log-row.js';
import type { ShownAttempt } from '../request-parts.js';

/** The config version that a request used. */
export interface UsedConfig {
  readonly slug: string;
  readonly name: string;
  readonly version: number;
  readonly document: RoutingConfig;
}

const CONFIG = `
  SELECT configs.slug, configs.name, version.number AS version, version.document
  FROM config_versions version JOIN configs ON configs.id = version.config_id
  WHERE version.id = $1 AND configs.id = $2 AND configs.organization_id = $3`;

export const BUDGET_SUBJECTS = ['api_key', 'virtual_key', 'workspace', 'policy'] as const;

/** A budget that attempts were charged to. */
export interface ChargedBudget {
  /** Key of the counter in the attempts. */
  readonly key: string;
  readonly limit_id: string;
  readonly measure: 'cost' | 'tokens';
  /** The budget's owner; null if it was removed since. */
  readonly subject: (typeof BUDGET_SUBJECTS)[number] | null;
  readonly name: string | null;
}

/** Only owners related to the request: limits are stored in their rows as documents without an index. */
const BUDGETS = `
  SELECT counter.key, counter.limit_id, counter.measure, owner.subject, owner.name
  FROM limit_counters counter LEFT JOIN LATERAL (
    SELECT 'api_key' AS subject, name FROM api_keys
      WHERE id = $3::uuid AND organization_id = $2 AND usage_limits @> counted
    UNION ALL SELECT 'virtual_key', name FROM virtual_keys
      WHERE id = ANY($4::uuid[]) AND organization_id = $2 AND usage_limits @> counted
    UNION ALL SELECT 'workspace', name FROM workspaces
      WHERE id = $5::uuid AND organization_id = $2 AND usage_limits @> counted
    UNION ALL SELECT 'policy', name FROM limit_policies WHERE id = counter.limit_id AND organization_id = $2
  ) AS owner ON true
  WHERE counter.key = ANY($1::text[]) AND counter.organization_id = $2
  ORDER BY owner.subject, owner.name, counter.key`.replaceAll(
  'counted',
  `jsonb_build_array(jsonb_build_object('id', counter.limit_id::text))`,
);

/** Data of a request's route beside its own row: the config that it used, and the budgets that it was charged to. */
@Injectable()
export class RouteParts {
  constructor(private readonly database: LogDatabase) {}

  /** Null if the request used no saved config, or the config was removed since. */
  async configOf({ config_id, config_version_id, organisation_id }: LogRow): Promise<UsedConfig | null> {
    if (config_version_id === null || config_id === null) return null;
    const [config] = await this.database.read<UsedConfig>(CONFIG, [
      config_version_id,
      config_id,
      organisation_id,
    ]);
    return config ?? null;
  }

  async budgetsOf(row: LogRow, attempts: readonly ShownAttempt[]): Promise<readonly ChargedBudget[]> {
    const keys = [...new Set(attempts.flatMap(({ charged }) => charged ?? []))];
    if (keys.length === 0) return [];
    const virtualKeys = [...new Set(attempts.flatMap(({ virtual_key_id }) => virtual_key_id ?? []))];
    return this.database.read(BUDGETS, [
      keys,
      row.organisation_id,
      row.api_key_id,
      virtualKeys,
      row.workspace_id,
    ]);
  }
}
