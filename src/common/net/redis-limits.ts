import { REDIS_TIMEOUTS } from './store-timeouts.js';

/** For what a connection to Redis is used, which decides on its time limits. */
export type RedisUse = keyof typeof REDIS_TIMEOUTS;

/**
 * Time limits under the names of ioredis. `socketTimeout` closes a connection that owes an answer; `commandTimeout` alone would
 * fail each command and keep the dead connection: https://redis.github.io/ioredis/interfaces/CommonRedisOptions.html
 */
export function redisLimits(use: RedisUse) {
  const { connectMs, commandMs, keepAliveMs } = REDIS_TIMEOUTS[use];
  const limits = { connectTimeout: connectMs, socketTimeout: commandMs, keepAlive: keepAliveMs };
  // Commands of BullMQ wait for jobs, and for a connection however long that takes; whoever adds a job stops waiting by itself.
  return use === 'queues' ? limits : { ...limits, commandTimeout: commandMs };
}
