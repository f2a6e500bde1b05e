import { randomBytes } from 'node:crypto';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { ChangeFeed } from '../../common/changes/change.js';
import { createLogger } from '../../common/observability/logger.js';
import { OutageNews } from '../../gateway/ports.js';
import { writeChange } from './change-message.js';

/** Sends messages on the change bus from a gateway process. */
export interface BusSender {
  send(message: string): Promise<unknown>;
  close(): void;
}

const MESSAGE = /^(\S+)@(\d{1,9})@([0-9a-f]+)$/;

const logger = createLogger('changes');

/** Outage reports on the change bus: `target <name>@<cool-down in milliseconds>@<id of the sending process>`. */
export class BusOutageNews extends OutageNews implements OnApplicationShutdown {
  private readonly me = randomBytes(8).toString('hex');

  constructor(
    private readonly bus: BusSender,
    private readonly feed: ChangeFeed,
  ) {
    super();
  }

  override tell(target: string, cooldownMs: number): void {
    const message = writeChange({ resource: 'target', id: `${target}@${cooldownMs}@${this.me}` });
    this.bus.send(message).catch((error: unknown) => {
      logger.warn(
        { err: error },
        'Other processes could not be notified of an outage. They detect it themselves.',
      );
    });
  }

  override subscribe(listener: (target: string, cooldownMs: number) => void): void {
    this.feed.subscribe((change) => {
      if (change?.resource !== 'target') return;
      const [, target, cooldownMs, teller] = MESSAGE.exec(change.id) ?? [];
      if (target !== undefined && teller !== this.me) listener(target, Number(cooldownMs));
    });
  }

  onApplicationShutdown(): void {
    this.bus.close();
  }
}
