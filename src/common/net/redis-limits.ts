import { REDIS_TIMEOUTS } from './store-timeouts.js';

/** The use of a Redis connection, which determines its time limits. */
export type RedisUse = keyof typeof REDIS_TIMEOUTS;

/**
 * Time limits under ioredis's names. `socketTimeout` closes a connection with an overdue response; `commandTimeout` alone would fail each
 * command and keep the dead connection: https://redis.github.io/ioredis/interfaces/CommonRedisOptions.html
 */
export function redisLimits(use: RedisUse) {
  const { connectMs, commandMs, keepAliveMs } = REDIS_TIMEOUTS[use];
  const limits = { connectTimeout: connectMs, socketTimeout: commandMs, keepAlive: keepAliveMs };
  // BullMQ's commands wait for jobs, and for a connection, without limit; code that adds a job has its own timeout.
  return use === 'queues' ? limits : { ...limits, commandTimeout: commandMs };
}
