import type { OnApplicationShutdown } from '@nestjs/common';
import type { Redis, Result } from 'ioredis';
import type { Secret } from '../../common/settings/secret.js';
import { type CachedResponseKey, AnswerStore } from '../../gateway/ports.js';
import { redisReplyWithin, connectForRequests } from '../redis-connection.js';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    keepAnswer(keys: number, ...args: (string | number | Buffer)[]): Result<number, Context>;
  }
}

/**
 * The braces keep all keys in one slot of a cluster: https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags
 */
const KEY_PREFIX = '{gatehouse-answers}';

/** Maximum removals per script run, which keeps the run short. */
const REMOVALS_MAX = 100;

/**
 * Removes expired responses, then those that expire soonest, until the new response fits the size limit, and stores it. A response that
 * still does not fit is not stored. The same Redis holds the queue and must not evict (https://docs.bullmq.io/guide/going-to-production),
 * so the cache limits its own size.
 *
 * Books of another type, or without a number, are deleted and start again: otherwise no response would be stored any more. The responses in
 * them are not counted until they expire.
 */
const KEEP = `
  local answer, ends, sizes, total = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
  local bytes, most, ends_at = string.len(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  local clock = redis.call('TIME')
  local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

  local function isOf(key, type)
    local found = redis.call('TYPE', key).ok
    return found == 'none' or found == type
  end
  local function isSound()
    if not (isOf(ends, 'zset') and isOf(sizes, 'hash') and isOf(total, 'string')) then return false end
    return string.match(redis.call('GET', total) or '0', '^%-?%d+$') ~= nil
  end
  if not isSound() then redis.call('DEL', ends, sizes, total) end

  local function remove(name)
    redis.call('DEL', name)
    redis.call('ZREM', ends, name)
    redis.call('DECRBY', total, string.match(redis.call('HGET', sizes, name) or '', '^%d+$') or 0)
    redis.call('HDEL', sizes, name)
  end

  if redis.call('HEXISTS', sizes, answer) == 1 then remove(answer) end
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, ${REMOVALS_MAX})) do remove(name) end
  if bytes > most or ends_at <= now then return 0 end
  for _ = 1, ${REMOVALS_MAX} do
    if tonumber(redis.call('GET', total) or 0) + bytes <= most then break end
    local soonest = redis.call('ZRANGE', ends, 0, 0)[1]
    if not soonest then
      -- Nothing is stored, whatever the sum says.
      redis.call('DEL', sizes, total)
      break
    end
    remove(soonest)
  end
  if tonumber(redis.call('GET', total) or 0) + bytes > most then return 0 end
  redis.call('SET', answer, ARGV[1], 'PX', ends_at - now)
  redis.call('ZADD', ends, ends_at, answer)
  redis.call('HSET', sizes, answer, bytes)
  redis.call('INCRBY', total, bytes)
  return 1`;

/** Cached responses in Redis, up to a total size in bytes. */
export class RedisAnswerStore extends AnswerStore implements OnApplicationShutdown {
  private readonly redis: Redis;

  constructor(
    url: Secret,
    private readonly bytesMax: number,
    private readonly keyPrefix = KEY_PREFIX,
  ) {
    super();
    this.redis = connectForRequests(url, 'answers');
    this.redis.defineCommand('keepAnswer', { lua: KEEP });
  }

  override find(place: CachedResponseKey): Promise<Buffer | null> {
    return redisReplyWithin(this.redis.getBuffer(this.nameOf(place)));
  }

  override async keep(place: CachedResponseKey, answer: Buffer, expiresAt: number): Promise<void> {
    const books = ['ends', 'sizes', 'total'].map((book) => `${this.keyPrefix}:${book}`);
    await redisReplyWithin(
      this.redis.keepAnswer(4, this.nameOf(place), ...books, answer, this.bytesMax, expiresAt),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    this.redis.disconnect();
  }

  private nameOf({ organizationId, workspaceId, key }: CachedResponseKey): string {
    return `${this.keyPrefix}:${organizationId}:${workspaceId}:${key}`;
  }
}
