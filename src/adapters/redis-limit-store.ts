import type { OnApplicationShutdown } from '@nestjs/common';
import type { Redis, Result } from 'ioredis';
import type { Limit } from '../common/limits/limit.js';
import type { Secret } from '../common/crypto/secret.js';
import { type LimitAsk, type LimitGrant, type LimitReturn, LimitStore } from '../gateway/ports.js';
import { connectForRequests } from './redis-connection.js';
import { GIVE_BACK, TAKE } from './redis-limit-scripts.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeLimits(keys: number, ...args: (string | number)[]): Result<[number, number, number][], Context>;
    giveBackLimits(keys: number, ...args: (string | number)[]): Result<number, Context>;
  }
}

/** A process that is silent for so long has lost its slots. */
const SLOT_LEASE_MS = 30_000;

/**
 * Rates and slots in Redis; budgets stay in PostgreSQL, where their ledger is.
 *
 * Each call is one script (https://redis.io/docs/latest/develop/programmability/eval-intro/), which runs alone. All keys
 * are in one slot, so that a script may name several of them in a cluster too.
 */
export class RedisLimitStore extends LimitStore implements OnApplicationShutdown {
  private readonly redis: Redis;
  /** Slots that this process leases, to keep them alive. */
  private readonly leased = new Map<string, number>();

  constructor(
    private readonly budgets: LimitStore,
    url: Secret,
  ) {
    super();
    this.redis = connectForRequests(url, 'limits');
    this.redis.defineCommand('takeLimits', { lua: TAKE });
    this.redis.defineCommand('giveBackLimits', { lua: GIVE_BACK });
  }

  override get holder(): string {
    return this.budgets.holder;
  }

  override async take(asks: readonly LimitAsk[]): Promise<readonly LimitGrant[]> {
    const money = asks.filter(isBudget);
    const rates = asks.filter((ask) => !isBudget(ask));
    const [ofMoney, ofRates] = await Promise.all([
      money.length > 0 ? this.budgets.take(money) : [],
      rates.length > 0 ? this.takeRates(rates) : [],
    ]);
    const [nextOfMoney, nextOfRates] = [ofMoney[Symbol.iterator](), ofRates[Symbol.iterator]()];
    return asks.map((ask) => (isBudget(ask) ? nextOfMoney : nextOfRates).next().value as LimitGrant);
  }

  override async giveBack(returns: readonly LimitReturn[]): Promise<void> {
    await Promise.all([this.budgets.giveBack(returns.filter(isBudget)), this.giveBackRates(returns)]);
  }

  async onApplicationShutdown(): Promise<void> {
    this.redis.disconnect();
  }

  private async takeRates(asks: readonly LimitAsk[]): Promise<LimitGrant[]> {
    const args = asks.flatMap(({ limit, debt, first, need, spare }) => [
      limit.kind,
      limit.amount,
      limit.windowMs,
      debt,
      first,
      need,
      spare,
    ]);
    const keys = asks.map(({ key }) => redisKey(key));
    const answers = await this.redis.takeLimits(keys.length, ...keys, this.holder, SLOT_LEASE_MS, ...args);
    return asks.map((ask, at) => {
      const [granted = 0, free = 0, retryMs = 0] = answers[at] ?? [];
      if (ask.limit.kind === 'slots') this.lease(ask.key, granted + ask.debt);
      return { granted, free, retryMs };
    });
  }

  /** Slots that are still leased are named with nothing to give back, which keeps them alive. */
  private async giveBackRates(returns: readonly LimitReturn[]): Promise<void> {
    const rates = returns.filter((one) => !isBudget(one));
    for (const { key, limit, amount } of rates) if (limit.kind === 'slots') this.lease(key, -amount);
    const kept = [...this.leased.keys()].filter((key) => !rates.some((one) => one.key === key));
    if (rates.length + kept.length === 0) return;
    const keys = [...rates.map(({ key }) => key), ...kept].map(redisKey);
    const args = [
      ...rates.flatMap(({ limit, amount }) => [limit.kind, amount]),
      ...kept.flatMap(() => ['slots', 0]),
    ];
    await this.redis.giveBackLimits(keys.length, ...keys, this.holder, SLOT_LEASE_MS, ...args);
  }

  private lease(key: string, amount: number): void {
    const leased = (this.leased.get(key) ?? 0) + amount;
    if (leased > 0) this.leased.set(key, leased);
    else this.leased.delete(key);
  }
}

const isBudget = ({ limit }: { readonly limit: Limit }): boolean => limit.kind === 'budget';

/** The braces keep all counters in one slot: https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags */
const redisKey = (key: string): string => `{gatehouse-limits}:${key}`;
