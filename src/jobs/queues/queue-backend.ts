import { Inject, Injectable } from '@nestjs/common';
import { type ConnectionOptions, type QueueOptions, setDefaultBackendFactory } from 'bullmq';
import { Cluster } from 'ioredis';
import { createLogger } from '../../common/observability/logger.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { migrateQueueSchema, postgresBackend, postgresQueues } from './postgres-queues.js';
import { REDIS_PREFIX, redisQueues } from './redis-queues.js';

/** The queues are in Redis if it is configured, in PostgreSQL otherwise. */
export type QueueSettings = Pick<Settings, 'databaseUrl' | 'redisUrl'>;

const KEPT_EVENTS = 100;

/**
 * Chooses and prepares the backend of all queues, once per process.
 *
 * Queues carry announcements only. Losing all of them loses nothing: remaining work is read from the tables again.
 */
@Injectable()
export class QueueBackend {
  private readonly settings: QueueSettings;
  private cluster: Cluster | undefined;

  constructor(@Inject(SETTINGS) settings: QueueSettings) {
    this.settings = settings;
  }

  /** The options of every queue and worker. Waits for the database when the queues are in it. */
  async prepare(): Promise<QueueOptions> {
    return {
      connection: await this.connection(),
      prefix: REDIS_PREFIX,
      // BullMQ writes queue events although nothing here reads them.
      streams: { events: { maxLen: KEPT_EVENTS } },
    };
  }

  /** Closes what the queue objects do not own. Call it after they are closed. */
  close(): void {
    this.cluster?.disconnect();
  }

  private async connection(): Promise<ConnectionOptions> {
    const { redisUrl, databaseUrl } = this.settings;
    if (redisUrl) return this.redis(redisQueues(redisUrl));
    if (!databaseUrl) throw new Error('Queues need DATABASE_URL or REDIS_URL.');
    setDefaultBackendFactory(postgresBackend);
    await migrateQueueSchema(databaseUrl, createLogger('queues'));
    // The option's type covers Redis only; the backend above accepts this one.
    return postgresQueues(databaseUrl) as ConnectionOptions;
  }

  private redis(connection: ReturnType<typeof redisQueues>): ConnectionOptions {
    setDefaultBackendFactory();
    if (connection instanceof Cluster) this.cluster = connection;
    // BullMQ's type covers other versions of ioredis as well, and is narrower than what it accepts.
    return connection as ConnectionOptions;
  }
}
