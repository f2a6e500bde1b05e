import type { OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { type Change, ChangeFeed } from '../../common/changes/change.js';
import type { Secret } from '../../common/settings/secret.js';
import { LoopHealth } from '../../common/loops/loop-health.js';
import { ChangeListeners } from './change-listeners.js';
import {
  CHANGE_FEED_LOOP,
  CHANGE_FEED_STALLED_AFTER_MS,
  CHANGES_CHANNEL,
  readChange,
} from './change-message.js';
import { connectForChanges } from '../redis-connection.js';

const HEARTBEAT = 'heartbeat';
const HEARTBEAT_EVERY_MS = 10_000;
/** Two missed heartbeats: the connection is dead although it looks open. */
const SILENCE_MS = 25_000;

/**
 * Changes over Redis publish and subscribe (https://redis.io/docs/latest/develop/pubsub/). Listeners receive null whenever the subscription
 * is re-established. A heartbeat from end to end detects connections that died silently.
 */
export class RedisChangeFeed extends ChangeFeed implements OnApplicationShutdown {
  private readonly listeners = new ChangeListeners();
  private readonly beater: Redis;
  private subscriber: Redis | undefined;
  private heartbeat: NodeJS.Timeout | undefined;
  private lastMessageAt = 0;
  private readonly health = new LoopHealth(CHANGE_FEED_LOOP, CHANGE_FEED_STALLED_AFTER_MS);

  constructor(
    private readonly url: Secret,
    private readonly heartbeatEveryMs = HEARTBEAT_EVERY_MS,
  ) {
    super();
    this.beater = connectForChanges(url, { lazyConnect: true, maxRetriesPerRequest: 1 });
  }

  override subscribe(listener: (change: Change | null) => void): void {
    this.listeners.add(listener);
    if (!this.subscriber) this.listen();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.heartbeat);
    this.health.unwatch();
    this.subscriber?.disconnect();
    this.beater.disconnect();
  }

  private listen(): void {
    // Resubscribes here, so that "invalidate everything" follows the subscription and does not precede it.
    const subscriber = connectForChanges(this.url, { autoResubscribe: false, maxRetriesPerRequest: null });
    this.subscriber = subscriber;
    this.health.watch();
    subscriber.on('ready', () => {
      this.lastMessageAt = performance.now();
      subscriber.subscribe(CHANGES_CHANNEL).then(
        () => this.listeners.tell(null),
        () => subscriber.disconnect(true),
      );
    });
    subscriber.on('message', (_channel, message: string) => {
      this.lastMessageAt = performance.now();
      this.health.succeeded();
      if (message !== HEARTBEAT) this.listeners.tell(readChange(message));
    });
    this.heartbeat = setInterval(() => this.beat(subscriber), this.heartbeatEveryMs).unref();
  }

  private beat(subscriber: Redis): void {
    // A heartbeat that cannot be sent is missed by the subscriber, which is enough.
    this.beater.publish(CHANGES_CHANNEL, HEARTBEAT).catch(() => undefined);
    const silentMs = performance.now() - this.lastMessageAt;
    if (
      subscriber.status === 'ready' &&
      silentMs > (SILENCE_MS / HEARTBEAT_EVERY_MS) * this.heartbeatEveryMs
    ) {
      this.health.failed();
      subscriber.disconnect(true);
    }
  }
}
