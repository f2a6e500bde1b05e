import { RATE_WINDOWS_MS, type RateUnit } from '../../common/limits/rules.js';
import { PageQuery, WorkspacePageQuery } from '../http/page-query.dto.js';
import { QueryDto } from '../http/query.dto.js';
import { QueryChoice, QueryText } from '../http/query-fields.js';
import type { PolicyFilter } from './policies.service.js';

const STATUSES = ['active', 'archived'] as const;
const ENTITY_STATUSES = ['active', 'exhausted'] as const;
const BUDGET_TYPES = ['cost', 'tokens'] as const;
const RATE_TYPES = ['requests', 'tokens', 'concurrency'] as const;

const QueryStatus = (statuses: readonly string[], description: string): PropertyDecorator =>
  QueryChoice(statuses, description, `must be ${statuses.join(' or ')}`);

export class ReadPolicyQuery extends QueryDto {
  @QueryStatus(STATUSES, 'Finds the limit only in this state. Default: all.')
  readonly status?: (typeof STATUSES)[number];
}

class ListPoliciesQuery extends WorkspacePageQuery {
  @QueryStatus(STATUSES, 'Includes only limits in this state. Default: active.')
  readonly status?: (typeof STATUSES)[number];
}

export class ListUsagePoliciesQuery extends ListPoliciesQuery {
  @QueryChoice(BUDGET_TYPES, 'Includes only budgets of this kind. Default: all.')
  readonly type?: (typeof BUDGET_TYPES)[number];
}

export class ListRatePoliciesQuery extends ListPoliciesQuery {
  @QueryChoice(RATE_TYPES, 'Includes only limits of this kind. Default: all.')
  readonly type?: (typeof RATE_TYPES)[number];

  @QueryChoice(Object.keys(RATE_WINDOWS_MS), 'Includes only limits with this window. Default: all.')
  readonly unit?: RateUnit;
}

export class ListPolicyEntitiesQuery extends PageQuery {
  @QueryStatus(ENTITY_STATUSES, 'Includes only counters in this state. Default: all.')
  readonly status?: (typeof ENTITY_STATUSES)[number];

  @QueryText('Includes only counters whose group contains this text, in any case.')
  readonly search?: string;
}

export const policyFilterOf = ({
  status,
  ...rule
}: Partial<ListUsagePoliciesQuery | ListRatePoliciesQuery>): PolicyFilter => ({
  isArchived: status === 'archived',
  ...(rule.type && { type: rule.type }),
  ...('unit' in rule && rule.unit && { unit: rule.unit }),
});
