import { type CallerLimits, limitsOf, policyOf } from '../../common/limits/limit.js';
import type { BudgetRule, PolicyRule, RateRule } from '../../common/limits/rules.js';

/** Limits of the caller, as the query of its key returns them. */
export interface CallerRules {
  readonly organization_id: string;
  readonly rate_limits: readonly RateRule[] | null;
  readonly usage_limits: readonly BudgetRule[] | null;
  readonly workspace_rate_limits: readonly RateRule[] | null;
  readonly workspace_usage_limits: readonly BudgetRule[] | null;
  readonly policies: readonly PolicyRule[] | null;
}

/** Null when the caller has no limits. */
export function callerLimits(row: CallerRules): CallerLimits | null {
  const organizationId = row.organization_id;
  const limits = [
    ...limitsOf({ organizationId, subject: 'this API key' }, row),
    ...limitsOf(
      { organizationId, subject: 'this workspace' },
      { rate_limits: row.workspace_rate_limits, usage_limits: row.workspace_usage_limits },
    ),
  ];
  const policies = (row.policies ?? []).flatMap((rule) => policyOf(organizationId, rule) ?? []);
  return limits.length + policies.length > 0 ? { limits, policies } : null;
}
