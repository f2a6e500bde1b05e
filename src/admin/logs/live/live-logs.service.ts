import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { KeptLogs } from '../../../request-log/reading/kept-logs.js';
import { UnitOfWork } from '../../../database/unit-of-work.js';
import { AppError } from '../../../common/errors/app-error.js';
import { IntervalJob } from '../../../common/loops/interval-job.js';
import { createLogger } from '../../../common/observability/logger.js';
import { reportSparsely } from '../../../common/observability/report-sparsely.js';
import { PostgresLogRows } from '../rows/postgres-log-rows.js';
import { LogDto } from '../log.dto.js';
import { LiveStream, type LiveStreamOptions } from './live-stream.js';
import { type NewBatch, NewBatches } from './new-batches.js';

const EVERY_MS = 1_000;
const CHECK_EVERY = 5;
const BEAT_EVERY = 15;
/** Streams per workspace, and per process. */
const MOST_PER_PLACE = 5;
const MOST = 50;
/** Rows of one batch per stream. */
const MOST_ROWS = 200;

/**
 * Sends new requests to live streams, about a second after they were stored. One query per second serves all of them; without a stream
 * there is no query.
 */
@Injectable()
export class LiveLogs implements BeforeApplicationShutdown {
  private readonly streams = new Set<LiveStream>();
  private readonly batches: NewBatches;
  private readonly report = reportSparsely(createLogger('live-logs'));
  private readonly job = new IntervalJob(() => this.look(), {
    name: 'live-logs',
    everyMs: EVERY_MS,
    logger: createLogger('live-logs'),
    failure: 'New requests could not be read.',
  });
  private rounds = 0;

  constructor(
    private readonly rows: PostgresLogRows,
    private readonly kept: KeptLogs,
    private readonly unitOfWork: UnitOfWork,
    // Batches belong to no tenant, so this is not the caller's transaction.
    database: DataSource,
  ) {
    this.batches = new NewBatches(database);
  }

  /** Refuses with `concurrency_limited` a stream beyond the limit. */
  checkStreamLimit(place: string): void {
    const there = [...this.streams].filter(({ options }) => options.place === place).length;
    if (there >= MOST_PER_PLACE || this.streams.size >= MOST)
      throw new AppError('concurrency_limited', {
        subject: 'watching new requests',
        limit: MOST_PER_PLACE,
      });
  }

  add(options: LiveStreamOptions): void {
    const stream = new LiveStream(options);
    this.streams.add(stream);
    options.response.once('close', () => this.remove(stream));
    this.job.start();
    void this.job.round();
  }

  async beforeApplicationShutdown(): Promise<void> {
    for (const stream of this.streams) stream.end('shutdown');
    await this.job.stop();
  }

  private remove(stream: LiveStream): void {
    this.streams.delete(stream);
    if (this.streams.size === 0) this.batches.forget();
  }

  private async look(): Promise<void> {
    if (this.streams.size === 0) return;
    this.rounds += 1;
    const batches = await this.batches.next();
    // Sequentially: the log is read over two connections, which other readers need, too.
    for (const stream of [...this.streams]) await this.serve(stream, batches);
  }

  /** Never rejects: one stream's failure must not affect the others. */
  private async serve(stream: LiveStream, batches: readonly NewBatch[]): Promise<void> {
    try {
      if (this.rounds % BEAT_EVERY === 0) stream.beat();
      if (this.rounds % CHECK_EVERY === 0) await stream.check();
    } catch (error) {
      this.report('The watchers of new requests could not be checked.', error);
    }
    try {
      await stream.take(batches, (batch) => this.send(stream, batch));
    } catch (error) {
      this.report('New requests could not be read.', error);
    }
  }

  /** As the client's own organization: the database shows no other rows. */
  private async send(stream: LiveStream, batch: NewBatch): Promise<void> {
    const { organizationId, workspaceId } = stream.options;
    const reach = { organizationId, ...(workspaceId === undefined ? {} : { workspaceId }) };
    const [rows, more] = await this.unitOfWork.runFor({ organizationId, isReading: true }, async () =>
      this.rows.ofBatch(
        reach,
        [...stream.conditions, ...(await this.kept.conditions(reach))],
        batch,
        MOST_ROWS,
      ),
    );
    stream.send(
      rows.map((row) => LogDto.from(row)),
      more,
    );
  }
}
