import { mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Logger } from '../../common/observability/logger.js';
import { removeFile } from '../../request-log/spool/spool-files.js';
import { shipperMetrics } from './shipper-metrics.js';

/** Beside the writers' folders in the spool. */
const FOLDER = 'damaged';
const KEPT_BYTES_MAX = 64 * 1024 * 1024;
/** It contains requests in clear text, so it is kept only as long as an operator needs to examine it. */
const KEPT_MS = 7 * 24 * 60 * 60_000;

/**
 * Damaged segments of one spool: each is logged once and moved to the folder `damaged` instead of being deleted, so that an operator can
 * find the cause. The folder is bounded in size and age; the oldest files go first.
 */
export class DamagedSegments {
  private readonly folder: string;
  private readonly known = new Set<string>();

  constructor(
    spool: string,
    private readonly logger: Logger,
  ) {
    this.folder = join(spool, FOLDER);
  }

  /** Reports damage in this segment; the offset in bytes is that of the first damaged range. */
  found(path: string, offset: number): void {
    if (this.known.has(path)) return;
    this.known.add(path);
    this.logger.error(
      { file: path, offset },
      'A segment of the spool is damaged. Its readable records are stored; the others are lost.',
    );
  }

  isKnown(path: string): boolean {
    return this.known.has(path);
  }

  /** Removes a processed segment from the spool; deletes it if it cannot be moved. */
  keep(path: string): void {
    const kept = join(this.folder, `${basename(dirname(path))}-${basename(path)}`);
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      renameSync(path, kept);
      shipperMetrics.damagedKept.inc();
      this.logger.warn({ file: kept }, 'A damaged segment of the spool was moved aside.');
      this.forgetOld();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.logger.warn({ err: error, file: path }, 'A damaged segment of the spool could not be kept.');
      removeFile(path);
    }
    this.forget(path);
  }

  forget(path: string): void {
    this.known.delete(path);
  }

  /** Deletes the oldest files until both limits are met. */
  forgetOld(now = Date.now()): void {
    let bytes = 0;
    for (const { path, size, mtimeMs } of this.newestFirst()) {
      bytes += size;
      if (bytes > KEPT_BYTES_MAX || now - mtimeMs > KEPT_MS) removeFile(path);
    }
  }

  private newestFirst() {
    try {
      return readdirSync(this.folder)
        .map((name) => join(this.folder, name))
        .map((path) => ({ path, ...fileFacts(path) }))
        .sort((one, other) => other.mtimeMs - one.mtimeMs);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }
}

/** Another process may just have removed it. */
function fileFacts(path: string): { readonly size: number; readonly mtimeMs: number } {
  const { size = 0, mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return { size, mtimeMs };
}
