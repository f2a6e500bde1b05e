import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InjectQueue } from '@nestjs/bullmq';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Queue } from 'bullmq';
import { DataSource } from 'typeorm';
import { EXPORTS } from '../../request-log/log-export.js';
import { ObjectStore } from '../../request-log/bodies/object-store.js';
import { IntervalJob } from '../../common/loops/interval-job.js';
import { createLogger } from '../../common/observability/logger.js';
import { EXPORT_LOGS, exportLogsJob, type ExportLogsPayload } from '../queues/export-logs.queue.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { BoundedQueue } from '../bounded-queue.js';
import { waitingRows } from '../leased-rows.js';

const EVERY_MS = 2_000;
const TIDY_EVERY_MS = 10 * 60_000;
const MOST_PER_SWEEP = 100;

const WAITING = waitingRows('log_exports');

/** Failed and stopped exports can be resumed for as long as a finished file is kept. */
const OVER = `
  UPDATE log_exports SET file_removed_at = now()
  WHERE file_removed_at IS NULL AND (expires_at < now()
    OR (status IN ('failed', 'stopped') AND updated_at < now() - make_interval(days => $1)))
  RETURNING id`;

/** Exports that expired this long ago are deleted, and so are drafts that were never started. */
const FORGOTTEN = `
  DELETE FROM log_exports WHERE status <> 'in_progress' AND updated_at < now() - interval '90 days'`;

const KEPT = `
  SELECT id::text AS id FROM log_exports
  WHERE (file_removed_at IS NULL OR status = 'in_progress') AND id::text = ANY($1)`;

const NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\./;
const YOUNG_MS = 60 * 60_000;

/**
 * Queues started exports; the table is their only record. Also removes expired files, and files of exports that were deleted with their
 * workspace.
 */
@Injectable()
export class SweepExports implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = createLogger('sweep-exports');
  private readonly queue: BoundedQueue<ExportLogsPayload>;
  private readonly announcing = new IntervalJob(() => this.enqueueOpen(), {
    name: 'sweep-exports',
    everyMs: EVERY_MS,
    logger: this.log,
    failure: 'Exports could not be enqueued.',
  });
  private readonly tidying = new IntervalJob(() => this.removeExpired(), {
    name: 'tidy-exports',
    everyMs: TIDY_EVERY_MS,
    logger: this.log,
    failure: 'Expired export files could not be removed.',
  });

  constructor(
    private readonly database: DataSource,
    @InjectQueue(EXPORT_LOGS) queue: Queue<ExportLogsPayload>,
    @Inject(ObjectStore) private readonly bucket: ObjectStore | null,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'exports'>,
  ) {
    this.queue = new BoundedQueue(queue, 'sweep-exports');
  }

  onApplicationBootstrap(): void {
    this.announcing.start();
    this.tidying.start();
    void this.tidying.round();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.announcing.stop(), this.tidying.stop()]);
  }

  /** One round. Never rejects. */
  announce(): Promise<void> {
    return this.announcing.round();
  }

  /** One round. Never rejects. */
  tidy(): Promise<void> {
    return this.tidying.round();
  }

  private async enqueueOpen(): Promise<void> {
    const waiting = await this.database.query<{ id: string }[]>(WAITING, [MOST_PER_SWEEP]);
    for (const { id } of waiting) await this.queue.add(exportLogsJob(id));
  }

  /** Rows first: a leftover file is found by its name next time. */
  private async removeExpired(): Promise<void> {
    const { folder, retentionDays } = this.settings.exports;
    await this.database.query(OVER, [retentionDays]);
    await this.database.query(FORGOTTEN);
    const names = await readdir(folder).catch(() => []);
    for (const name of await this.forgotten(names)) await removeUnlessYoung(join(folder, name));
    if (this.bucket)
      for await (const keys of this.bucket.keys(EXPORTS))
        for (const key of await this.forgotten(keys)) await this.bucket.remove(key);
  }

  /** Files whose export no longer keeps them. Other files are left alone. */
  private async forgotten(paths: readonly string[]): Promise<readonly string[]> {
    const named = paths.flatMap((path) => {
      const id = NAME.exec(path.slice(path.lastIndexOf('/') + 1))?.[1];
      return id === undefined ? [] : [{ path, id }];
    });
    const ids = [...new Set(named.map(({ id }) => id))];
    const rows = await this.database.query<{ id: string }[]>(KEPT, [ids]);
    const kept = new Set(rows.map(({ id }) => id));
    return named.filter(({ id }) => !kept.has(id)).map(({ path }) => path);
  }
}

/** A recent file may belong to a row that did not exist yet when the rows were read. */
async function removeUnlessYoung(path: string): Promise<void> {
  const facts = await stat(path).catch(() => null);
  if (facts && Date.now() - facts.mtimeMs > YOUNG_MS) await rm(path, { force: true });
}
