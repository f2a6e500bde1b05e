import { setTimeout as sleep } from 'node:timers/promises';
import type { OnApplicationShutdown } from '@nestjs/common';
import { type Change, ChangeFeed } from '../../common/changes/change.js';
import type { Secret } from '../../common/settings/secret.js';
import { postgresClient } from '../../database/sessions/postgres-connections.js';
import { LoopHealth } from '../../common/loops/loop-health.js';
import { createLogger } from '../../common/observability/logger.js';
import { ChangeListeners } from './change-listeners.js';
import {
  CHANGE_FEED_LOOP,
  CHANGE_FEED_STALLED_AFTER_MS,
  CHANGES_CHANNEL,
  readChange,
} from './change-message.js';

const CHECK_EVERY_MS = 10_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

const logger = createLogger('changes');

/**
 * Changes over PostgreSQL's LISTEN and NOTIFY (https://www.postgresql.org/docs/current/sql-notify.html). A notification belongs to its
 * transaction: it is delivered after the commit and never after a rollback.
 *
 * Each process listens on a connection of its own, outside the pool. Listeners receive null whenever the connection is re-established. It
 * is probed every ten seconds, because a dead connection looks like one without notifications.
 */
export class PostgresChangeFeed extends ChangeFeed implements OnApplicationShutdown {
  private readonly listeners = new ChangeListeners();
  private readonly stopping = new AbortController();
  private readonly health = new LoopHealth(CHANGE_FEED_LOOP, CHANGE_FEED_STALLED_AFTER_MS);
  private listening: Promise<void> | undefined;

  /** `url` must point to PostgreSQL itself, or to a pooler in session mode: LISTEN belongs to a session. */
  constructor(private readonly url: Secret) {
    super();
  }

  override subscribe(listener: (change: Change | null) => void): void {
    this.listeners.add(listener);
    if (!this.listening) this.health.watch();
    this.listening ??= this.listenUntilStopped();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    this.health.unwatch();
    await this.listening;
  }

  private async listenUntilStopped(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (!this.stopping.signal.aborted) {
      try {
        await this.listenOnce(() => (retryMs = FIRST_RETRY_MS));
      } catch (error) {
        if (!this.stopping.signal.aborted) {
          this.health.failed();
          logger.warn({ err: error }, 'The connection that receives changes was lost.');
        }
      }
      await this.pause(retryMs);
      retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
    }
  }

  /** Does not resolve while the connection lives and the process is not stopping. */
  private async listenOnce(established: () => void): Promise<void> {
    const client = postgresClient('listening', {
      connectionString: this.url.reveal(),
      application_name: 'gatehouse changes',
    });
    const lost = new Promise<never>((_, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('The connection has ended.')));
    });
    lost.catch(() => undefined);
    client.on('notification', ({ payload }) => this.listeners.tell(readChange(payload ?? '')));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANGES_CHANNEL}`);
      established();
      this.health.succeeded();
      this.listeners.tell(null);
      while (!this.stopping.signal.aborted) {
        await Promise.race([lost, this.pause(CHECK_EVERY_MS)]);
        await Promise.race([lost, client.query('SELECT 1')]);
        this.health.succeeded();
      }
    } finally {
      // Not awaited: a dead connection would never confirm its end.
      client.end().catch(() => undefined);
    }
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined);
  }
}
