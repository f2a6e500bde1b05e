import { Redis } from 'ioredis';
import type { Secret } from '../common/crypto/secret.js';
import { createLogger } from '../common/observability/logger.js';

const LAST_RETRY_MS = 5_000;

const logger = createLogger('changes');

export interface ConnectionWishes {
  readonly lazyConnect?: boolean;
  readonly autoResubscribe?: boolean;
  readonly maxRetriesPerRequest: number | null;
}

/** A connection for the change bus that comes back by itself, and says why it was lost. */
export function connectForChanges(url: Secret, wishes: ConnectionWishes): Redis {
  const redis = new Redis(url.reveal(), {
    ...wishes,
    connectionName: 'gatehouse-changes',
    retryStrategy: (attempt) => Math.min(attempt * 100, LAST_RETRY_MS),
  });
  return redis.on('error', (error: Error) => logger.warn({ err: error }, 'The connection to Redis failed.'));
}
