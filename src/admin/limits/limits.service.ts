import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { invalidField } from '../../common/errors/field-errors.js';
import { budgetAmountIn, counterKey, periodAt } from '../../common/limits/period.js';
import type { BudgetRule, RateRule } from '../../common/limits/rules.js';
import { nanoDollars } from '../../providers/prices/decimal.js';
import {
  LARGEST_DOLLARS,
  type RateLimitDto,
  type ShownRateLimitDto,
  type ShownUsageLimitsDto,
  type UsageLimitsDto,
} from '../dto-fields/limit.dto.js';

/** Whatever has limits. */
export interface LimitedResource {
  readonly rateLimits: readonly RateRule[] | null;
  readonly usageLimits: readonly BudgetRule[] | null;
}

/** The amount spent of each budget in its current period, by rule id. */
export type BudgetUsage = ReadonlyMap<string, number>;

export const NO_USAGE: BudgetUsage = new Map();

const DAY_MS = 86_400_000;
const NANO = 1_000_000_000;

/** Converts limits from requests into rules, and shows rules with their use. */
@Injectable()
export class LimitsService {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** A limit of the same kind as an existing one keeps its counter. Null and an empty list mean none. */
  rates(requested: readonly RateLimitDto[] | null, before: readonly RateRule[] | null): RateRule[] | null {
    const rules = (requested ?? []).map((dto) => rateRule(dto, before ?? []));
    checkDistinct(
      'rate_limits',
      rules.map(({ type, unit }) => `${type} ${unit ?? ''}`),
    );
    return rules.length > 0 ? rules : null;
  }

  budgets(
    requested: readonly UsageLimitsDto[] | null,
    before: readonly BudgetRule[] | null,
  ): BudgetRule[] | null {
    const known = predecessors(requested ?? [], before ?? []);
    const rules = (requested ?? []).map((dto) => budgetRule(dto, known.get(dto)));
    checkDistinct(
      'usage_limits',
      rules.map(({ type, periodic_reset, periodic_reset_days }) =>
        [type, periodic_reset, periodic_reset_days].join(' '),
      ),
    );
    return rules.length > 0 ? rules : null;
  }

  /** The limits of a resource for a copy of it, with new counters that start at zero. */
  copied({ rateLimits, usageLimits }: LimitedResource): {
    readonly rateLimits: RateRule[] | null;
    readonly usageLimits: BudgetRule[] | null;
  } {
    return {
      rateLimits: rateLimits && rateLimits.map(apart),
      usageLimits: usageLimits && usageLimits.map(withoutRaise),
    };
  }

  /**
   * Resets the use of budgets and rates; returns rate rules with new counters. Running requests count again when they end, and keep their
   * slots.
   */
  async reset({ rateLimits, usageLimits }: LimitedResource): Promise<RateRule[] | null> {
    await this.forgive((usageLimits ?? []).map((rule) => currentKey(rule)));
    return rateLimits && rateLimits.map((rule) => (rule.type === 'concurrency' ? rule : apart(rule)));
  }

  /** Forgives what was spent of these counters; the charges stay in the ledger. */
  async forgive(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const { manager } = this.unitOfWork;
    await manager.query('UPDATE limit_counters SET forgiven = spent WHERE key = ANY($1)', [keys]);
    await manager.query('DELETE FROM limit_events WHERE counter = ANY($1)', [keys]);
  }

  /** The use of all budgets of these resources, in one query. */
  async usageOf(things: readonly LimitedResource[]): Promise<BudgetUsage> {
    const rules = new Map(
      things
        .flatMap(({ usageLimits }) => usageLimits ?? [])
        .map((rule) => [currentKey(rule), rule.id] as const),
    );
    if (rules.size === 0) return NO_USAGE;
    const rows: { key: string; spent: string }[] = await this.unitOfWork.manager.query(
      'SELECT key, spent - forgiven AS spent FROM limit_counters WHERE key = ANY($1)',
      [[...rules.keys()]],
    );
    return new Map(rows.map(({ key, spent }) => [rules.get(key) ?? '', Number(spent)]));
  }
}

const apart = <Rule extends RateRule>(rule: Rule): Rule => ({ ...rule, id: randomUUID() });
/** A raise belongs to the counter of the original. */
function withoutRaise(rule: BudgetRule): BudgetRule {
  const copy = { ...rule, id: randomUUID() };
  delete (copy as { raise?: unknown }).raise;
  return copy;
}

export const currentKey = (rule: BudgetRule, group = ''): string =>
  counterKey(rule.id, periodAt(rule, Date.now()), group);

/** The current limit of a budget. */
export const amountNow = (rule: BudgetRule): number => budgetAmountIn(rule, periodAt(rule, Date.now()));

/** Whether one of its budgets is exhausted. */
export function isExhausted({ usageLimits }: LimitedResource, usage: BudgetUsage): boolean {
  return (usageLimits ?? []).some((rule) => (usage.get(rule.id) ?? 0) >= amountNow(rule));
}

export function shownRates(rules: readonly RateRule[] | null): ShownRateLimitDto[] | null {
  return rules && rules.map(shownRate);
}

export function shownRate({ type, unit, value, on_store_failure = 'open' }: RateRule): ShownRateLimitDto {
  return { type, unit, value, on_store_failure };
}

export function shownBudgets(
  rules: readonly BudgetRule[] | null,
  usage: BudgetUsage,
): ShownUsageLimitsDto[] | null {
  return rules && rules.map((rule) => shownBudget(rule, usage.get(rule.id) ?? 0));
}

/** One budget as an object, several as a list: clients of the compatible API support the former. */
export function shownBudgetOrList(
  rules: readonly BudgetRule[] | null,
  usage: BudgetUsage,
): ShownUsageLimitsDto | ShownUsageLimitsDto[] | null {
  const shown = shownBudgets(rules, usage);
  return shown?.length === 1 ? (shown[0] ?? null) : shown;
}

function shownBudget(rule: BudgetRule, spent: number): ShownUsageLimitsDto {
  const raise = shownAmount(rule, amountNow(rule) - rule.amount);
  return { ...budgetWithoutUse(rule), raised_by: raise, usage: shownAmount(rule, spent) };
}

export function budgetWithoutUse(rule: BudgetRule): Omit<ShownUsageLimitsDto, 'usage' | 'raised_by'> {
  const { endsAt } = periodAt(rule, Date.now());
  return {
    credit_limit: rule.credit_limit,
    type: rule.type,
    alert_threshold: rule.alert_threshold,
    periodic_reset: rule.periodic_reset,
    periodic_reset_days: rule.periodic_reset_days,
    next_usage_reset_at: Number.isFinite(endsAt) ? new Date(endsAt).toISOString() : null,
  };
}

/** Dollars, or tokens. */
export const shownAmount = ({ type }: Pick<BudgetRule, 'type'>, amount: number): number =>
  type === 'cost' ? amount / NANO : amount;

/** One rate as sent by a user. An existing rate of the same kind keeps its counter. */
export function rateRule(dto: RateLimitDto, before: readonly RateRule[]): RateRule {
  const { type, unit = null, value, on_store_failure = 'open' } = dto;
  checkUnit(type, unit);
  const known = before.find((rule) => rule.type === type && rule.unit === unit);
  return { id: known?.id ?? randomUUID(), type, unit, value, on_store_failure };
}

/** One budget as sent by a user. It continues the counter of the budget that it replaces, if any. */
export function budgetRule(dto: UsageLimitsDto, known?: BudgetRule): BudgetRule {
  checkBudget(dto);
  const { credit_limit, type = 'cost', alert_threshold = null } = dto;
  const { periodic_reset = null, periodic_reset_days = null } = dto;
  return {
    id: known?.id ?? randomUUID(),
    type,
    credit_limit,
    alert_threshold,
    amount: budgetAmount('credit_limit', type, credit_limit),
    alert_amount: alert_threshold === null ? null : budgetAmount('alert_threshold', type, alert_threshold),
    periodic_reset,
    periodic_reset_days,
    starts_at: startOf(dto, known),
  };
}

/**
 * The budget that each one replaces: one of exactly its kind, else one of its type with another reset. No two replace the same: their use
 * would be charged to its counter twice.
 */
function predecessors(
  requested: readonly UsageLimitsDto[],
  before: readonly BudgetRule[],
): ReadonlyMap<UsageLimitsDto, BudgetRule> {
  const left = new Map(before.map((rule) => [rule.id, rule]));
  const found = new Map<UsageLimitsDto, BudgetRule>();
  for (const isLike of [isOfKind, isOfType])
    for (const dto of requested) {
      const known = found.has(dto) ? undefined : [...left.values()].find((rule) => isLike(dto, rule));
      if (known === undefined) continue;
      found.set(dto, known);
      left.delete(known.id);
    }
  return found;
}

const isOfType = ({ type = 'cost' }: UsageLimitsDto, rule: BudgetRule): boolean => rule.type === type;

const isOfKind = (dto: UsageLimitsDto, rule: BudgetRule): boolean =>
  isOfType(dto, rule) &&
  rule.periodic_reset === (dto.periodic_reset ?? null) &&
  rule.periodic_reset_days === (dto.periodic_reset_days ?? null);

function checkBudget(dto: UsageLimitsDto): void {
  const { credit_limit, alert_threshold, periodic_reset, periodic_reset_days, next_usage_reset_at } = dto;
  if (periodic_reset && periodic_reset_days)
    refuse('periodic_reset_days', 'it cannot be combined with periodic_reset');
  if (next_usage_reset_at && !periodic_reset_days)
    refuse('next_usage_reset_at', 'it can be set only together with periodic_reset_days');
  if (alert_threshold && alert_threshold >= credit_limit)
    refuse('alert_threshold', 'it must be less than credit_limit');
}

function startOf({ periodic_reset_days, next_usage_reset_at }: UsageLimitsDto, known?: BudgetRule): number {
  const days = periodic_reset_days ?? null;
  if (days !== null && next_usage_reset_at)
    return wholeSecond(Date.parse(next_usage_reset_at) - days * DAY_MS);
  if (known?.periodic_reset_days === days) return known.starts_at;
  return wholeSecond(Date.now());
}

const wholeSecond = (moment: number): number => Math.floor(moment / 1000) * 1000;

export function budgetAmount(field: string, type: BudgetRule['type'], requested: number): number {
  const amount = type === 'cost' ? dollarsOf(requested) : requested;
  if (amount === null || !Number.isSafeInteger(amount) || amount < 1)
    refuse(field, type === 'cost' ? 'it must be at most 9,000,000 dollars' : 'it must be a whole number');
  return amount;
}

const dollarsOf = (requested: number): number | null =>
  requested > LARGEST_DOLLARS ? null : nanoDollars(requested);

function checkUnit(type: RateRule['type'], unit: RateRule['unit']): void {
  if (type === 'concurrency' && unit !== null) refuse('rate_limits.unit', 'concurrency has none');
  if (type !== 'concurrency' && unit === null) refuse('rate_limits.unit', 'it is missing');
}

function checkDistinct(field: string, kinds: readonly string[]): void {
  if (new Set(kinds).size < kinds.length) refuse(field, 'it names two limits of the same kind');
}

function refuse(field: string, reason: string): never {
  throw invalidField(field, reason);
}
