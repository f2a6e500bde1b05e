import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Inject } from '@nestjs/common';
import type { Job } from 'bullmq';
import { DataSource } from 'typeorm';
import { CurrentRights } from '../../auth/ports.js';
import { ObjectStore } from '../../request-log/bodies/object-store.js';
import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { countOutcome } from '../background-outcomes.js';
import { EXPORT_LOGS, exportLogsPayload, type ExportLogsPayload } from '../queues/export-logs.queue.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { ExportLeases } from './export-lease.js';
import { ExportRows } from './export-rows.js';
import { type ExportEnding, ExportWriter } from './export-writer.js';

const log = createLogger('export-logs');

/** Writes started exports. One that is interrupted by the end of its process is continued by the next process. */
@Processor(EXPORT_LOGS, {
  concurrency: 2,
  lockDuration: 15_000,
  stalledInterval: 5_000,
  maxStalledCount: 1_000_000,
  runRetryDelay: 2_000,
})
export class ExportLogsProcessor extends WorkerHost implements BeforeApplicationShutdown {
  private readonly report = reportSparsely(log);
  private readonly writer: ExportWriter;
  private isStopping = false;

  constructor(
    database: DataSource,
    rows: ExportRows,
    @Inject(ObjectStore) store: ObjectStore | null,
    rights: CurrentRights,
    @Inject(SETTINGS) { exports: settings }: Pick<Settings, 'exports'>,
  ) {
    super();
    this.writer = new ExportWriter({
      leases: new ExportLeases(database),
      rows,
      rights,
      settings,
      bucket: settings.store === 's3' ? store : null,
      isStopping: () => this.isStopping,
    });
  }

  async process({ data }: Job<ExportLogsPayload>): Promise<ExportEnding> {
    const { export_id } = exportLogsPayload.parse(data);
    const ending = await countOutcome('export', this.writer.write(export_id));
    if (ending === 'failed') log.error({ export_id }, 'An export failed. The export names the reason.');
    return ending;
  }

  @OnWorkerEvent('failed')
  onFailed(job: Job<ExportLogsPayload> | undefined, error: Error): void {
    log.error({ err: error, export_id: job?.data.export_id }, 'An export was interrupted. Trying again.');
  }

  @OnWorkerEvent('error')
  onError(error: Error): void {
    this.report('The queue is unavailable.', error);
  }

  /** Before connections close: running exports stop after their next piece. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.worker.close();
  }
}
