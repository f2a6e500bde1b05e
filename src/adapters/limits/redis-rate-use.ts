import type { OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { RateUse, windowOf } from '../../common/limits/rate-use.js';
import type { RateRule } from '../../common/limits/rules.js';
import type { Secret } from '../../common/settings/secret.js';
import { redisReplyWithin, connectForRequests } from '../redis-connection.js';
import { limitKey } from './redis-limit-scripts.js';

const STEPS = 100;
const AMOUNT = /^-?\d{1,15}$/;
const HELD = /^(\d{1,15}):(\d{1,15})$/;

type RedisHashFields = Readonly<Record<string, string>>;

/** The counters of `RedisLimitStore`, read in one round trip. Changes nothing. */
export class RedisRateUse extends RateUse implements OnApplicationShutdown {
  private readonly redis: Redis;

  constructor(url: Secret) {
    super();
    this.redis = connectForRequests(url, 'limits');
  }

  override async read(rules: readonly RateRule[]): Promise<ReadonlyMap<string, number>> {
    const pipeline = this.redis.pipeline().time();
    for (const { id } of rules) pipeline.hgetall(limitKey(id));
    const [time, ...counters] = (await redisReplyWithin(pipeline.exec())) ?? [];
    const [seconds = 0, micros = 0] = (time?.[1] ?? []) as readonly (string | number)[];
    const now = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    return new Map(rules.map((rule, at) => [rule.id, usedIn(rule, counters[at], now)]));
  }

  async onApplicationShutdown(): Promise<void> {
    this.redis.disconnect();
  }
}

/** A counter that cannot be read counts as zero: the next request restarts it. */
function usedIn(rule: RateRule, reply: [Error | null, unknown] | undefined, now: number): number {
  const [error, fields] = reply ?? [null, {}];
  if (error) return 0;
  const windowMs = windowOf(rule);
  return windowMs === 0
    ? heldIn(fields as RedisHashFields, now)
    : countedIn(fields as RedisHashFields, windowMs, now);
}

function countedIn(fields: RedisHashFields, windowMs: number, now: number): number {
  const step = Math.floor(now / Math.max(Math.floor(windowMs / STEPS), 1));
  return Object.entries(fields)
    .filter(([at]) => Number(at) > step - STEPS && Number(at) <= step + STEPS)
    .reduce((sum, [, amount]) => sum + (AMOUNT.test(amount) ? Number(amount) : 0), 0);
}

/** Each holder's entry is "amount:expires at". */
function heldIn(fields: RedisHashFields, now: number): number {
  return Object.values(fields)
    .map((entry) => HELD.exec(entry) ?? [])
    .reduce((sum, [, amount = '0', expires = '0']) => sum + (Number(expires) > now ? Number(amount) : 0), 0);
}
