import type { OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { type Change, ChangePublisher, UNHEARD_CHANGE_MS } from '../../common/changes/change.js';
import type { Secret } from '../../common/settings/secret.js';
import type { UnitOfWork } from '../../database/unit-of-work.js';
import { createLogger } from '../../common/observability/logger.js';
import { CHANGES_CHANNEL, writeChange } from './change-message.js';
import { connectForChanges } from '../redis-connection.js';

const logger = createLogger('changes');

/**
 * Publishes changes over Redis. Redis takes no part in the database transaction, so a change is sent after the commit. If that fails,
 * caches notice the change only when their entries expire.
 */
export class RedisChangePublisher extends ChangePublisher implements OnApplicationShutdown {
  private readonly redis: Redis;

  constructor(
    private readonly work: UnitOfWork,
    url: Secret,
  ) {
    super();
    this.redis = connectForChanges(url, { lazyConnect: true, maxRetriesPerRequest: 1 });
  }

  override async publish(change: Change): Promise<void> {
    this.work.afterCommit(() => void this.send(writeChange(change)));
  }

  async onApplicationShutdown(): Promise<void> {
    this.redis.disconnect();
  }

  private async send(message: string): Promise<void> {
    try {
      await this.redis.publish(CHANGES_CHANNEL, message);
    } catch (error) {
      logger.warn(
        { err: error },
        `A change could not be published. Other processes notice it within ${UNHEARD_CHANGE_MS / 1_000} s.`,
      );
    }
  }
}
