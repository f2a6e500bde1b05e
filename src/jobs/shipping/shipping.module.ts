import { join } from 'node:path';
import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Pool } from 'pg';
import { sweepLimits } from '../../request-log/charging/end-leases.js';
import { postgresPool } from '../../database/sessions/postgres-connections.js';
import { maintainPartitions } from '../../request-log/store/maintain-partitions.js';
import { PARTITIONED } from '../../request-log/store/partitions.js';
import { IntervalJob } from '../../common/loops/interval-job.js';
import { createLogger } from '../../common/observability/logger.js';
import type { Settings } from '../../common/settings/settings.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import { storeIngested } from './store-ingested.js';
import { BatchQueueModule } from './batch-queue.module.js';
import { BullBatchQueue } from './bull-batch-queue.js';
import type { UsageCounter } from './ports.js';
import { Shipper } from './shipper.js';
import { strayRows } from './shipper-metrics.js';

const USAGE_COUNTER = Symbol('usage-counter');
const INBOX_EVERY_MS = 1_000;
const TIDY_EVERY_MS = 60 * 60_000;
/** Two for batches of the spool, one for imported ones, and one for each part of the hourly round. */
const CONNECTIONS_MAX = 5;

/** Runs the shipper and the hourly round for the lifetime of the process. */
@Injectable()
class ShippingLoop implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = createLogger('shipper');
  private readonly pool: Pool;
  private readonly drainSpoolMs: number;
  private readonly shipper: Shipper;
  private readonly inbox: IntervalJob;
  private readonly hourly: readonly IntervalJob[];

  constructor(
    batchQueue: BullBatchQueue,
    @Inject(USAGE_COUNTER) counter: UsageCounter,
    @Inject(SETTINGS) { dataDir, databaseUrl, drainSpoolMs }: Settings,
  ) {
    const { logger } = this;
    const pool = postgresPool(
      'background',
      {
        connectionString: databaseUrl?.reveal(),
        max: CONNECTIONS_MAX,
        application_name: 'gatehouse shipper',
      },
      (error) => logger.warn({ err: error }, 'An idle connection of the shipper was lost.'),
    );
    this.pool = pool;
    this.drainSpoolMs = drainSpoolMs;
    this.inbox = new IntervalJob(() => storeIngested(pool, batchQueue), {
      name: 'ingested-logs',
      everyMs: INBOX_EVERY_MS,
      logger,
      failure: 'Logs of calls made elsewhere could not be stored.',
    });
    this.hourly = [
      new IntervalJob(() => this.maintainPartitions(), {
        name: 'log-partitions',
        everyMs: TIDY_EVERY_MS,
        logger,
        failure: 'The partitions of the request log could not be prepared. Trying again.',
      }),
      new IntervalJob(() => sweepLimits(pool), {
        name: 'sweep-limits',
        everyMs: TIDY_EVERY_MS,
        logger,
        failure: 'Ended leases of limits could not be removed. Trying again.',
      }),
    ];
    this.shipper = new Shipper({ pool, spool: join(dataDir, 'spool'), batchQueue, counter, logger });
  }

  onApplicationBootstrap(): void {
    this.shipper.start();
    this.inbox.start();
    for (const job of this.hourly) {
      job.start();
      void job.round();
    }
  }

  private async maintainPartitions(): Promise<void> {
    const report = await maintainPartitions(this.pool, this.logger);
    for (const table of PARTITIONED) strayRows.set({ table }, report.strays.includes(table) ? 1 : 0);
  }

  async beforeApplicationShutdown(): Promise<void> {
    const jobs = [this.inbox, ...this.hourly];
    await Promise.all([this.shipper.stop(this.drainSpoolMs), ...jobs.map((job) => job.stop())]);
    await this.pool.end();
  }
}

/** Moves request logs from this machine's spool into the database. Requires `QueuesModule`. */
@Module({})
export class ShippingModule {
  static register(counter: UsageCounter): DynamicModule {
    return {
      module: ShippingModule,
      imports: [BatchQueueModule],
      providers: [{ provide: USAGE_COUNTER, useValue: counter }, ShippingLoop],
    };
  }
}
