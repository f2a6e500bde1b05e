import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { reachOf, type Reach } from '../../auth/tenant.js';
import { ChangePublisher } from '../../common/changes/change.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { periodAt } from '../../common/limits/period.js';
import type { BudgetRule } from '../../common/limits/rules.js';
import { KeyBoundsService } from '../api-keys/key-bounds.service.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { budgetAmount } from '../limits/limits.service.js';
import { LimitStatusDto, type RaiseLimitDto } from './limit-status.dto.js';
import { budgetStatus, byFullness, type LimitStatus, rateStatus } from './limit-statuses.js';
import { checkMayChange, type LimitedSubject, LimitSubjects } from './limit-subjects.service.js';
import { LimitUsage } from './limit-usage.service.js';
import { invalidField } from '../../common/errors/field-errors.js';

/** Shows every limit with its use, and raises budgets for the current period. */
@Injectable()
export class LimitStatusService {
  constructor(
    private readonly subjects: LimitSubjects,
    private readonly usage: LimitUsage,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
    private readonly bounds: KeyBoundsService,
  ) {}

  /** Fullest first. */
  async list(caller: Principal, reach: Reach): Promise<{ statuses: LimitStatus[]; isPartial: boolean }> {
    const { subjects, isPartial } = await this.subjects.list(caller, reach);
    const statuses = (await this.statusesOf(subjects)).sort(byFullness);
    return { statuses, isPartial };
  }

  /** Raises a budget until its reset. Gateway processes apply it when they receive the change. */
  async raise(caller: Principal, id: string, { by }: RaiseLimitDto): Promise<LimitStatus> {
    if (!isUuid(id)) throw new AppError('not_found', { resource: 'limit' });
    const ruleId = id.toLowerCase();
    const found = await this.subjects.lockByBudget(caller, reachOf(caller), ruleId);
    const { subject, scope, usageLimits, save } = found;
    this.audit.note({ action: scope, targetId: subject.id, workspaceId: subject.workspaceId });
    checkMayChange(caller, found);
    if (subject.type === 'api_key') await this.bounds.check(caller, 'raise the budgets of keys');
    const before = await this.statusOf(found, ruleId);
    const raised = (usageLimits ?? []).map((rule) => (rule.id === ruleId ? raisedBy(rule, by) : rule));
    await save(raised);
    const after = await this.statusOf({ ...found, usageLimits: raised }, ruleId);
    this.audit.note({ before: LimitStatusDto.from(before), after: LimitStatusDto.from(after) });
    await this.changes.publish({ resource: subject.type, id: subject.id });
    return after;
  }

  private async statusOf(subject: LimitedSubject, id: string): Promise<LimitStatus> {
    const status = (await this.statusesOf([subject])).find((one) => one.id === id);
    if (!status) throw new AppError('not_found', { resource: 'limit' });
    return status;
  }

  private async statusesOf(subjects: readonly LimitedSubject[]): Promise<LimitStatus[]> {
    const now = Date.now();
    const spent = await this.usage.ofBudgets(subjects.flatMap(({ usageLimits }) => usageLimits ?? []));
    const rates = await this.usage.ofRates(subjects.flatMap(({ rateLimits }) => rateLimits ?? []));
    return subjects.flatMap(({ subject, usageLimits, rateLimits }) => [
      ...(usageLimits ?? []).map((rule) => budgetStatus(subject, rule, spent.get(rule.id), now)),
      ...(rateLimits ?? []).map((rule) => rateStatus(subject, rule, rates.get(rule.id) ?? null)),
    ]);
  }
}

function raisedBy(rule: BudgetRule, by: number): BudgetRule {
  const { endsAt } = periodAt(rule, Date.now());
  if (!Number.isFinite(endsAt))
    throw new AppError('invalid_request', {
      detail: 'This budget has no reset, so it has no period to raise it for. Change its limit instead.',
    });
  const known = rule.raise?.ends_at === endsAt ? rule.raise.amount : 0;
  const amount = known + budgetAmount('by', rule.type, by);
  if (!Number.isSafeInteger(rule.amount + amount)) throw invalidField('by', 'the budget would be too large');
  return { ...rule, raise: { amount, ends_at: endsAt } };
}
