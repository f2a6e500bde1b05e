import type { OnApplicationShutdown } from '@nestjs/common';
import { type Redis, ReplyError, type Result } from 'ioredis';
import type { Secret } from '../../common/settings/secret.js';
import {
  type AskAnswer,
  type LimitAsk,
  LimitFault,
  type LimitReturn,
  LimitStore,
  type ReturnAnswer,
  RETURNED,
} from '../../gateway/ports.js';
import { REDIS_ANSWER_MS } from '../../common/net/store-timeouts.js';
import { redisReplyWithin, connectForRequests } from '../redis-connection.js';
import { answerApart } from './answer-apart.js';
import { GIVE_BACK, limitKey, TAKE } from './redis-limit-scripts.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeLimits(keys: number, ...args: (string | number)[]): Result<GrantReply[], Context>;
    giveBackLimits(keys: number, ...args: (string | number)[]): Result<(0 | 1)[], Context>;
  }
}

type GrantReply = [
  granted: number,
  free: number,
  retryMs: number,
  others: number,
  step: number,
  corrupt: 0 | 1,
];

/** A process that is silent for this long loses its slots. */
const SLOT_LEASE_MS = 30_000;
const SCRIPTS = { take: TAKE, giveBack: GIVE_BACK };

export interface RedisLimitOptions {
  readonly slotLeaseMs?: number;
  /** Timeout of a call to Redis, in milliseconds. */
  readonly answerMs?: number;
  readonly scripts?: typeof SCRIPTS;
}

/**
 * Error replies about the command itself. The others mean that this Redis serves no caller now: it is loading, full, a replica or the wrong
 * node, or it rejects our credentials (https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors).
 */
const OF_THE_COMMAND = /^(ERR|WRONGTYPE) /;

/**
 * Rates and slots in Redis; budgets stay in PostgreSQL with their ledger. Either store can be unavailable without the other.
 *
 * Each call is one script (https://redis.io/docs/latest/develop/programmability/eval-intro/), which runs atomically. All keys are in one
 * slot, so that a script can use several of them in a cluster too.
 */
export class RedisLimitStore extends LimitStore implements OnApplicationShutdown {
  private readonly redis: Redis;
  private readonly slotLeaseMs: number;
  private readonly answerMs: number;

  constructor(
    override readonly budgets: LimitStore,
    url: Secret,
    { slotLeaseMs = SLOT_LEASE_MS, answerMs = REDIS_ANSWER_MS, scripts = SCRIPTS }: RedisLimitOptions = {},
  ) {
    super();
    this.slotLeaseMs = slotLeaseMs;
    this.answerMs = answerMs;
    this.redis = connectForRequests(url, 'limits');
    this.redis.defineCommand('takeLimits', { lua: scripts.take });
    this.redis.defineCommand('giveBackLimits', { lua: scripts.giveBack });
  }

  override get holder(): string {
    return this.budgets.holder;
  }

  override take(requests: readonly LimitAsk[]): Promise<readonly AskAnswer[]> {
    return answerApart(requests, (some) => this.takeAll(some), isOfTheCommand);
  }

  override async giveBack(returns: readonly LimitReturn[]): Promise<readonly ReturnAnswer[]> {
    if (returns.length === 0) {
      await redisReplyWithin(this.redis.ping(), this.answerMs);
      return [];
    }
    // Not split: a failed script may have returned some of it, and nothing may be returned twice.
    try {
      return await this.giveAll(returns);
    } catch (error) {
      if (!isOfTheCommand(error)) throw error;
      return returns.map(() => new LimitFault(error));
    }
  }

  /** Redis refuses writes by their command, whatever their size: https://redis.io/docs/latest/commands/command/#flags */
  override async tryWrite(): Promise<void> {
    await redisReplyWithin(
      this.redis.set(limitKey(`write-check/${this.holder}`), '1', 'PX', this.slotLeaseMs),
      this.answerMs,
    );
  }

  private async takeAll(requests: readonly LimitAsk[]): Promise<readonly AskAnswer[]> {
    const args = requests.flatMap(({ limit, debt, first, need, spare, holds, call }) => [
      limit.kind,
      limit.amount,
      limit.windowMs,
      debt,
      first,
      need,
      spare,
      holds,
      call,
    ]);
    const keys = this.keysOf(requests);
    const replies = await redisReplyWithin(
      this.redis.takeLimits(keys.length, ...keys, this.holder, this.slotLeaseMs, ...args),
      this.answerMs,
    );
    return replies.map(([granted, free, retryMs, others, step, corrupt]) => ({
      granted,
      free,
      retryMs,
      others,
      step,
      wasCorrupt: corrupt === 1,
    }));
  }

  private async giveAll(returns: readonly LimitReturn[]): Promise<readonly ReturnAnswer[]> {
    const args = returns.flatMap(({ limit, holds, call, steps }) => [
      limit.kind,
      limit.windowMs,
      holds,
      call,
      steps.length,
      ...steps.flatMap(({ step, amount }) => [step, amount]),
    ]);
    const keys = this.keysOf(returns);
    const replies = await redisReplyWithin(
      this.redis.giveBackLimits(keys.length, ...keys, this.holder, this.slotLeaseMs, ...args),
      this.answerMs,
    );
    return replies.map((done) => (done === 1 ? RETURNED : new LimitFault(CORRUPT)));
  }

  /** The keys of the counters, and the key that holds this process's call numbers. */
  private keysOf(calls: readonly { readonly key: string }[]): string[] {
    return [...calls.map(({ key }) => limitKey(key)), limitKey(`calls/${this.holder}`)];
  }

  async onApplicationShutdown(): Promise<void> {
    this.redis.disconnect();
  }
}

const CORRUPT = new Error('The counter was corrupt and starts again at 0.');

const isOfTheCommand = (error: unknown): boolean =>
  error instanceof ReplyError && OF_THE_COMMAND.test((error as Error).message);
