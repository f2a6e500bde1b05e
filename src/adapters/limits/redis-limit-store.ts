import type { OnApplicationShutdown } from '@nestjs/common';
import type { Redis, Result } from 'ioredis';
import type { Secret } from '../../common/crypto/secret.js';
import { type LimitAsk, type LimitGrant, type LimitReturn, LimitStore } from '../../gateway/ports.js';
import { answerOf, connectForRequests } from '../redis-connection.js';
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
 * Rates and slots in Redis; budgets stay in PostgreSQL, where their ledger is. Each of the two may be away without the other.
 *
 * Each call is one script (https://redis.io/docs/latest/develop/programmability/eval-intro/), which runs alone. All keys
 * are in one slot, so that a script may name several of them in a cluster too.
 */
export class RedisLimitStore extends LimitStore implements OnApplicationShutdown {
  private readonly redis: Redis;

  constructor(
    override readonly budgets: LimitStore,
    url: Secret,
    private readonly slotLeaseMs = SLOT_LEASE_MS,
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
    const args = asks.flatMap(({ limit, debt, first, need, spare, holds }) => [
      limit.kind,
      limit.amount,
      limit.windowMs,
      debt,
      first,
      need,
      spare,
      holds,
    ]);
    const keys = asks.map(({ key }) => redisKey(key));
    const answers = await answerOf(
      this.redis.takeLimits(keys.length, ...keys, this.holder, this.slotLeaseMs, ...args),
    );
    return asks.map((_, at) => {
      const [granted = 0, free = 0, retryMs = 0] = answers[at] ?? [];
      return { granted, free, retryMs };
    });
  }

  override async giveBack(returns: readonly LimitReturn[]): Promise<void> {
    if (returns.length === 0) return;
    const keys = returns.map(({ key }) => redisKey(key));
    const args = returns.flatMap(({ limit, amount, holds }) => [limit.kind, amount, holds]);
    await answerOf(this.redis.giveBackLimits(keys.length, ...keys, this.holder, this.slotLeaseMs, ...args));
  }

  async onApplicationShutdown(): Promise<void> {
    this.redis.disconnect();
  }
}

/** The braces keep all counters in one slot: https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags */
const redisKey = (key: string): string => `{gatehouse-limits}:${key}`;
