import { Redis } from 'ioredis';
import { retryPauseMs } from '../common/loops/retry-pause.js';
import type { Secret } from '../common/settings/secret.js';
import { redisLimits } from '../common/net/redis-limits.js';
import { redisTlsOf } from '../common/net/store-tls.js';
import { REDIS_ANSWER_MS } from '../common/net/store-timeouts.js';
import { createLogger } from '../common/observability/logger.js';
import { reportSparsely } from '../common/observability/report-sparsely.js';
import { answeredWithin } from '../common/processes/answered-within.js';

/** Pauses before reconnecting. Without the change bus, changes are delayed; without the store of limits, every request is. */
const RECONNECT = {
  changes: { firstMs: 100, maxMs: 5_000 },
  requests: { firstMs: 100, maxMs: 1_000 },
};

const logger = createLogger('redis');

export interface RedisConnectionOptions {
  readonly lazyConnect?: boolean;
  readonly autoResubscribe?: boolean;
  readonly maxRetriesPerRequest: number | null;
}

/** A connection for the change bus. It reconnects by itself and logs why it was lost. */
export function connectForChanges(url: Secret, options: RedisConnectionOptions): Redis {
  return reporting(
    new Redis(url.reveal(), {
      ...redisLimits('changes'),
      ...redisTlsOf(url.reveal()),
      ...options,
      connectionName: 'gatehouse-changes',
      retryStrategy: (attempt) => retryPauseMs(attempt, RECONNECT.changes),
    }),
  );
}

/** A connection that requests wait for. It reconnects by itself too, and commands that cannot be sent fail soon. Wait with `redisReplyWithin`. */
export function connectForRequests(url: Secret, use: 'limits' | 'answers'): Redis {
  return reporting(
    new Redis(url.reveal(), {
      ...redisLimits('requests'),
      ...redisTlsOf(url.reveal()),
      connectionName: `gatehouse-${use}`,
      maxRetriesPerRequest: 1,
      retryStrategy: (attempt) => retryPauseMs(attempt, RECONNECT.requests),
    }),
  );
}

const UNREACHABLE = 'Redis cannot be reached. Check REDIS_URL and that Redis runs.';

/** Requests wait for this reply, so a Redis that does not reply in time counts as unavailable. */
export const redisReplyWithin = <T>(work: Promise<T>, withinMs: number = REDIS_ANSWER_MS): Promise<T> =>
  answeredWithin(work, withinMs, `Redis did not respond within ${withinMs} ms.`).catch((error: unknown) => {
    throw named(error);
  });

/** The client's own text names an option of the client instead of the setting. */
function named(error: unknown): unknown {
  const { name } = error as Error;
  return name === 'MaxRetriesPerRequestError' ? Object.assign(new Error(UNREACHABLE), { name }) : error;
}

/** One for all connections of the process, which fail together. */
const report = reportSparsely(logger);

function reporting(redis: Redis): Redis {
  return redis.on('error', (error: Error) => report(UNREACHABLE, error));
}
