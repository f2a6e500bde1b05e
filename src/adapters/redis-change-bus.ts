import type { OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { ChangeBus, type Change } from '../common/changes/change-bus.js';
import type { Secret } from '../common/crypto/secret.js';
import type { UnitOfWork } from '../common/database/unit-of-work.js';
import { createLogger } from '../common/observability/logger.js';
import { ChangeListeners } from './change-listeners.js';
import { CHANGES_CHANNEL, readChange, writeChange } from './change-message.js';

const HEARTBEAT = 'heartbeat';
const HEARTBEAT_EVERY_MS = 10_000;
/** Two heartbeats missed: the connection only looks alive. */
const SILENCE_MS = 25_000;
const LAST_RETRY_MS = 5_000;

const logger = createLogger('changes');

/**
 * Changes over Redis publish and subscribe (https://redis.io/docs/latest/develop/pubsub/). Redis knows nothing of our
 * transactions, so a change is sent after the commit; if it cannot be, caches find out when their entries are too old.
 *
 * Whenever the subscription stands anew, listeners hear null. A heartbeat over the whole way finds connections that
 * died without a word.
 */
export class RedisChangeBus extends ChangeBus implements OnApplicationShutdown {
  private readonly listeners = new ChangeListeners();
  private readonly publisher: Redis;
  private subscriber: Redis | undefined;
  private heartbeat: NodeJS.Timeout | undefined;
  private heardAt = 0;

  constructor(
    private readonly work: UnitOfWork,
    private readonly url: Secret,
    private readonly heartbeatEveryMs = HEARTBEAT_EVERY_MS,
  ) {
    super();
    this.publisher = this.connect({ lazyConnect: true, maxRetriesPerRequest: 1 });
  }

  override async publish(change: Change): Promise<void> {
    this.work.afterCommit(() => void this.send(writeChange(change)));
  }

  override subscribe(listener: (change: Change | null) => void): void {
    this.listeners.add(listener);
    if (!this.subscriber) this.listen();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.heartbeat);
    this.subscriber?.disconnect();
    this.publisher.disconnect();
  }

  private listen(): void {
    // Subscribing anew is done here, so that "forget everything" comes after it and not before.
    const subscriber = this.connect({ autoResubscribe: false, maxRetriesPerRequest: null });
    this.subscriber = subscriber;
    subscriber.on('ready', () => {
      this.heardAt = performance.now();
      subscriber.subscribe(CHANGES_CHANNEL).then(
        () => this.listeners.tell(null),
        () => subscriber.disconnect(true),
      );
    });
    subscriber.on('message', (_channel, message: string) => {
      this.heardAt = performance.now();
      if (message !== HEARTBEAT) this.listeners.tell(readChange(message));
    });
    this.heartbeat = setInterval(() => this.beat(subscriber), this.heartbeatEveryMs).unref();
  }

  private beat(subscriber: Redis): void {
    void this.send(HEARTBEAT);
    const silentMs = performance.now() - this.heardAt;
    if (subscriber.status === 'ready' && silentMs > (SILENCE_MS / HEARTBEAT_EVERY_MS) * this.heartbeatEveryMs)
      subscriber.disconnect(true);
  }

  private async send(message: string): Promise<void> {
    try {
      await this.publisher.publish(CHANGES_CHANNEL, message);
    } catch (error) {
      logger.warn(
        { err: error },
        'A change could not be told to the other processes; they will notice within 30 s.',
      );
    }
  }

  private connect(options: {
    lazyConnect?: boolean;
    autoResubscribe?: boolean;
    maxRetriesPerRequest: number | null;
  }): Redis {
    const redis = new Redis(this.url.reveal(), {
      ...options,
      connectionName: 'gatehouse-changes',
      retryStrategy: (attempt) => Math.min(attempt * 100, LAST_RETRY_MS),
    });
    return redis.on('error', (error: Error) =>
      logger.warn({ err: error }, 'The connection to Redis failed.'),
    );
  }
}
