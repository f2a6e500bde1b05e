import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { createLogger } from '../common/observability/logger.js';
import { dropOld, forgetBatches, type Kept } from '../common/rollups/drop-old.js';
import { GRAIN_MS, startOf } from '../common/rollups/grains.js';
import { SETTINGS } from '../common/settings/settings.module.js';
import type { Settings } from '../common/settings/settings.js';
import { InTurn } from './in-turn.js';

const EVERY_MS = 60 * 60_000;
const KEPT: readonly Kept[] = ['bodies', 'logs', 'minutes'];

/** Drops the days that the settings no longer keep. */
@Injectable()
export class Retention implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #log = createLogger('retention');
  readonly #turns = new InTurn(() => this.#round(), {
    logger: this.#log,
    failure: 'old days could not be dropped',
  });

  constructor(
    private readonly database: DataSource,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'retentionDays'>,
  ) {}

  onApplicationBootstrap(): void {
    this.#turns.start(EVERY_MS);
    void this.#turns.round();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.#turns.stop();
  }

  async #round(): Promise<void> {
    for (const kept of KEPT) {
      const days = this.settings.retentionDays[kept];
      if (days === 0) continue;
      const before = new Date(startOf('day', Date.now()) - days * GRAIN_MS.day);
      const partitions = await dropOld(this.database, kept, before);
      if (kept === 'logs') await forgetBatches(this.database, before);
      if (partitions.length > 0) this.#log.info({ kept, days, partitions }, 'dropped what is no longer kept');
    }
  }
}
