import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, JsonContains, Not, type Repository } from 'typeorm';
import type { Reach, Tenant } from '../../auth/tenant.js';
import { ChangePublisher } from '../../common/changes/change.js';
import { LimitPolicy } from './limit-policy.entity.js';
import type { Page } from '../../common/http/page.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import type { BudgetRule, PolicyCondition, PolicyKey, RateRule } from '../../common/limits/rules.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { shownPolicy } from './policy.dto.js';

/** The two kinds of policies. */
export type PolicyKind = 'budget' | 'rate';

export interface NewPolicy {
  readonly name?: string;
  readonly conditions: readonly PolicyCondition[];
  readonly group_by: readonly { readonly key: PolicyKey }[];
}

export interface PolicyChange {
  readonly name?: string;
  readonly conditions?: readonly PolicyCondition[];
  /** The rule with its changes. */
  readonly budget?: BudgetRule;
  readonly rate?: RateRule;
}

/** The filters of a list. Omitted ones have no effect. */
export interface PolicyFilter
  extends Partial<Pick<RateRule | BudgetRule, 'type'>>, Partial<Pick<RateRule, 'unit'>> {
  readonly isArchived: boolean;
}

const MOST_POLICIES = 100;

/** Workspace limits on a part of its requests. Every request of the workspace checks all of them, so their number is small. */
@Injectable()
export class PoliciesService {
  constructor(
    @InjectRepository(LimitPolicy) private readonly limitPolicies: Repository<LimitPolicy>,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {}

  async create(
    tenant: Tenant,
    dto: NewPolicy,
    rule: { readonly budget: BudgetRule | null; readonly rate: RateRule | null },
  ): Promise<LimitPolicy> {
    const count = await this.limitPolicies.countBy({ ...tenant, archivedAt: IsNull() });
    if (count >= MOST_POLICIES)
      throw new AppError('conflict', { detail: `A workspace has at most ${MOST_POLICIES} policies.` });
    const policy = await this.limitPolicies.save(
      this.limitPolicies.create({
        id: uuidV7(Date.now()),
        ...tenant,
        name: dto.name ?? 'unnamed',
        conditions: plain(dto.conditions),
        groupBy: plain(dto.group_by),
        ...rule,
      }),
    );
    this.audit.note({ targetId: policy.id, workspaceId: policy.workspaceId, after: shownPolicy(policy) });
    await this.announce(policy);
    return policy;
  }

  /** Newest first. */
  list(
    reach: Reach,
    kind: PolicyKind,
    { isArchived, ...rule }: PolicyFilter,
    { skip, take }: Page,
  ): Promise<[LimitPolicy[], number]> {
    const ofKind = Object.keys(rule).length > 0 ? JsonContains(rule) : Not(IsNull());
    return this.limitPolicies.findAndCount({
      where: { ...reach, [kind]: ofKind, archivedAt: isArchived ? Not(IsNull()) : IsNull() },
      order: { createdAt: 'DESC', id: 'DESC' },
      skip,
      take,
    });
  }

  /** Active or archived, unless a status is given. */
  async get(
    reach: Reach,
    kind: PolicyKind,
    id: string,
    status: 'active' | 'archived' | null = null,
  ): Promise<LimitPolicy> {
    const policy = await this.find(reach, kind, id);
    if (status !== null && (status === 'archived') !== (policy.archivedAt !== null))
      throw new AppError('not_found', { resource: 'policy' });
    return policy;
  }

  /** Locks the policy itself until the commit, for a change of what it counts. */
  lock(reach: Reach, kind: PolicyKind, id: string): Promise<LimitPolicy> {
    return this.find(reach, kind, id, true);
  }

  /** `change` receives the locked policy. */
  async update(
    reach: Reach,
    kind: PolicyKind,
    id: string,
    change: (policy: LimitPolicy) => PolicyChange,
  ): Promise<LimitPolicy> {
    const policy = await this.find(reach, kind, id, true);
    const before = shownPolicy(policy);
    const { name, conditions, budget, rate } = change(policy);
    if (name !== undefined) policy.name = name;
    if (conditions !== undefined) policy.conditions = plain(conditions);
    if (budget !== undefined) policy.budget = budget;
    if (rate !== undefined) policy.rate = rate;
    return this.save(policy, before);
  }

  /** The caller holds its lock. */
  async noteReset(policy: LimitPolicy): Promise<void> {
    const before = shownPolicy(policy);
    policy.lastResetAt = new Date();
    await this.save(policy, before);
  }

  /** An archived policy has no effect; its counts stay. */
  async archive(reach: Reach, kind: PolicyKind, id: string): Promise<void> {
    const policy = await this.find(reach, kind, id, true);
    const before = shownPolicy(policy);
    if (policy.archivedAt) throw new AppError('not_found', { resource: 'policy' });
    policy.archivedAt = new Date();
    await this.save(policy, before);
  }

  private async save(policy: LimitPolicy, before: object): Promise<LimitPolicy> {
    const saved = await this.limitPolicies.save(policy);
    this.audit.note({
      targetId: saved.id,
      workspaceId: saved.workspaceId,
      before,
      after: shownPolicy(saved),
    });
    await this.announce(saved);
    return saved;
  }

  /** Another tenant's policy is "not found", not "forbidden": a 403 would reveal that it exists. */
  private async find(reach: Reach, kind: PolicyKind, id: string, lock = false): Promise<LimitPolicy> {
    const policy = isUuid(id)
      ? await this.limitPolicies.findOne({
          where: { id, ...reach, [kind]: Not(IsNull()) },
          ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
        })
      : null;
    if (!policy) throw new AppError('not_found', { resource: 'policy' });
    return policy;
  }

  /** Cached keys include their workspace's policies. */
  private announce({ workspaceId }: LimitPolicy): Promise<void> {
    return this.changes.publish({ resource: 'workspace', id: workspaceId });
  }
}

/** Without the DTO classes, which the store would keep. */
function plain<T extends object>(items: readonly T[]): T[] {
  return items.map((item) => ({ ...item }));
}
