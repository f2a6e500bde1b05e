import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { IntervalJob, type Round } from '../common/loops/interval-job.js';
import { createLogger } from '../common/observability/logger.js';
import { deriveRipe } from '../request-log/rollups/derive.js';
import { chooseMetadataKeys } from '../request-log/rollups/metadata-keys.js';
import { SETTINGS } from '../common/settings/settings.module.js';
import type { Settings } from '../common/settings/settings.js';

const EVERY_MS = 15_000;
const QUIET_S = 60;
/** Longer than the statements of one mark may take. */
const STALLED_AFTER_MS = 15 * 60_000;

/** Derives hours from minutes and days from hours once they have ended. Until then readers use the finer granularity. */
@Injectable()
export class RollUpUsage implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly job = new IntervalJob((round) => this.round(round), {
    name: 'roll-up-usage',
    everyMs: EVERY_MS,
    boundMs: STALLED_AFTER_MS,
    logger: createLogger('roll-up-usage'),
    failure: 'Hours and days could not be derived.',
  });

  constructor(
    private readonly database: DataSource,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'analyticsMetadataKeys'>,
  ) {}

  onApplicationBootstrap(): void {
    this.job.start();
    void this.job.round();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  private async round(round: Round): Promise<void> {
    await chooseMetadataKeys(this.database, this.settings.analyticsMetadataKeys);
    // Checked between two marks.
    const isStopping = (): boolean => {
      round.progressed();
      return round.hasEnded;
    };
    await deriveRipe(this.database, QUIET_S, isStopping);
  }
}
