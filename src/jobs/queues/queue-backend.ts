import { Inject, Injectable } from '@nestjs/common';
import { type ConnectionOptions, type QueueOptions, setDefaultBackendFactory } from 'bullmq';
import { Cluster } from 'ioredis';
import { createLogger } from '../../common/observability/logger.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { migrateQueueSchema, postgresBackend, postgresQueues } from './postgres-queues.js';
import { REDIS_PREFIX, redisQueues } from './redis-queues.js';

/** Where the queues live: Redis when there is one, PostgreSQL otherwise. */
export type QueueSettings = Pick<Settings, 'databaseUrl' | 'redisUrl'>;

const KEPT_EVENTS = 100;

/**
 * Decides, once per process, what stands behind every queue, and makes it ready.
 *
 * Queues carry announcements only. Nothing is lost when all of them are: what is left to do is
 * read from the tables again.
 */
@Injectable()
export class QueueBackend {
  readonly #settings: QueueSettings;
  #cluster: Cluster | undefined;

  constructor(@Inject(SETTINGS) settings: QueueSettings) {
    this.#settings = settings;
  }

  /** What each queue and worker is made with. Waits for the database when the queues live there. */
  async prepare(): Promise<QueueOptions> {
    return {
      connection: await this.#connection(),
      prefix: REDIS_PREFIX,
      // Nobody reads the events of the queues; BullMQ writes them all the same.
      streams: { events: { maxLen: KEPT_EVENTS } },
    };
  }

  /** Closes what the queue objects do not own. Call it after they are closed. */
  close(): void {
    this.#cluster?.disconnect();
  }

  async #connection(): Promise<ConnectionOptions> {
    const { redisUrl, databaseUrl } = this.#settings;
    if (redisUrl) return this.#redis(redisQueues(redisUrl));
    if (!databaseUrl) throw new Error('Queues need DATABASE_URL or REDIS_URL.');
    setDefaultBackendFactory(postgresBackend);
    await migrateQueueSchema(databaseUrl, createLogger('queues'));
    // The type of the option knows Redis only; the backend above reads it as its own.
    return postgresQueues(databaseUrl) as ConnectionOptions;
  }

  #redis(connection: ReturnType<typeof redisQueues>): ConnectionOptions {
    setDefaultBackendFactory();
    if (connection instanceof Cluster) this.#cluster = connection;
    // BullMQ's type is made for other versions of ioredis as well, and is narrower than what it takes.
    return connection as ConnectionOptions;
  }
}
