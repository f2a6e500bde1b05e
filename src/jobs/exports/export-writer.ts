import { rm, stat } from 'node:fs/promises';
import type { CurrentRights, Rights } from '../../auth/ports.js';
import { visibilityOf } from '../../auth/permissions/visibility.js';
import { exportFile, exportObject } from '../../request-log/log-export.js';
import type { ObjectStore } from '../../request-log/bodies/object-store.js';
import { AppError } from '../../common/errors/app-error.js';
import type { ExportSettings } from '../../common/settings/settings.js';
import { encodePiece } from './encode.js';
import { GrowingFile, growingFile } from './export-file.js';
import {
  type ClaimedExport,
  type ExportLeases,
  EXPORT_LEASE_S,
  type ExportProgress,
} from './export-lease.js';
import { exportColumns, type ExportRows, type ExportStep } from './export-rows.js';
import { parquetOf } from './parquet.js';

/** `absent`: another process writes it, or it was stopped. `released`: this process ends; the next one continues. */
export type ExportEnding = 'success' | 'failed' | 'absent' | 'released';

/** Why an export fails permanently, as shown to its owner. Other errors are temporary, and it is retried. */
class ExportProblem extends Error {}

const MOST_TRIES = 10;
const DISK_FULL_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const MS_PER_S = 1_000;
/** Nothing is written this long after the lease was renewed: once it expires, another process may be writing. */
const STEP_MS = (EXPORT_LEASE_S * MS_PER_S) / 2;

interface Parts {
  readonly leases: ExportLeases;
  readonly rows: ExportRows;
  readonly rights: CurrentRights;
  readonly settings: ExportSettings;
  readonly isStopping: () => boolean;
  /** Where the finished file goes; null leaves it in its folder. */
  readonly bucket: ObjectStore | null;
}

/**
 * Writes the file of an export in pieces. After each piece is on disk, the export's row records the valid length of the file and the
 * request after which the next piece begins; after a crash, the next process truncates the file there and continues. Before each piece, the
 * permissions of the user who started the export are checked again.
 */
export class ExportWriter {
  constructor(private readonly parts: Parts) {}

  async write(exportId: string): Promise<ExportEnding> {
    const claimed = await this.parts.leases.claim(exportId);
    if (!claimed) return 'absent';
    try {
      return await this.pieces(claimed);
    } catch (error) {
      return this.failed(claimed, error);
    }
  }

  private async pieces(claimed: ClaimedExport): Promise<ExportEnding> {
    const { leases, settings } = this.parts;
    const [file, start] = await this.open(claimed);
    const grown = await this.grow(claimed, file, start).finally(() => file.close());
    if (grown !== 'complete') return grown;
    const path = exportFile(settings.folder, claimed);
    if (claimed.format === 'parquet') await this.toParquet(claimed, path);
    const { size } = await stat(path);
    await this.toBucket(claimed, path, size);
    if (!(await leases.succeed(claimed, size, settings.retentionDays))) return 'absent';
    // The local copy is not needed once the bucket has the file; the sweep removes what is left.
    if (this.parts.bucket) await rm(path, { force: true }).catch(() => undefined);
    return 'success';
  }

  /** A file that is shorter than the row says is started again. */
  private async open(claimed: ClaimedExport): Promise<[GrowingFile, ExportProgress]> {
    const { folder } = this.parts.settings;
    const path = growingFile(folder, claimed);
    const file = await GrowingFile.open(folder, path, claimed.bytes);
    if (file) return [file, claimed];
    const restarted = await GrowingFile.open(folder, path, 0);
    if (!restarted) throw new Error('A new file cannot be shorter than nothing.');
    return [restarted, { after: null, rows: 0, bytes: 0 }];
  }

  /** The next rows are read while the previous ones are encoded and written. */
  private async grow(
    claimed: ClaimedExport,
    file: GrowingFile,
    start: ExportProgress,
  ): Promise<Exclude<ExportEnding, 'success' | 'failed'> | 'complete'> {
    const { leases, isStopping } = this.parts;
    let { rows } = start;
    let renewedAt = performance.now();
    let ahead = this.readAhead(claimed, start.after);
    try {
      for (;;) {
        if (isStopping()) return (await leases.release(claimed)) ? 'released' : 'absent';
        const { requests, after, isLast } = await ahead;
        if (!isLast) ahead = this.readAhead(claimed, after);
        const piece = await encodePiece(packingOf(claimed), requests, file.bytes === 0);
        this.checkSize(file.bytes + piece.length);
        if (performance.now() - renewedAt > STEP_MS) throw new Error('A step of an export took too long.');
        await file.append(piece);
        rows += requests.length;
        renewedAt = performance.now();
        if (!(await leases.advance(claimed, { after, rows, bytes: file.bytes }))) return 'absent';
        if (isLast) return 'complete';
      }
    } finally {
      await ahead.catch(() => undefined);
    }
  }

  /** Rejects when awaited, possibly long after the failure. */
  private readAhead(claimed: ClaimedExport, after: ExportProgress['after']): Promise<ExportStep> {
    const step = this.rightsOf(claimed).then((rights) =>
      this.parts.rows.step(claimed, after, visibilityOf(rights)),
    );
    step.catch(() => undefined);
    return step;
  }

  private async rightsOf(claimed: ClaimedExport): Promise<Rights> {
    const rights = await this.parts.rights.of(claimed);
    if (!rights?.scopes.has('logs.export'))
      throw new ExportProblem(
        'The caller who started the export can no longer export requests of this workspace.',
      );
    return rights;
  }

  private checkSize(bytes: number): void {
    const { limitBytes } = this.parts.settings;
    if (bytes > limitBytes)
      throw new ExportProblem(
        `The file would be larger than ${limitBytes} bytes. Choose fewer fields or a shorter time range.`,
      );
  }

  /** If the file was made already, the lines that it was made from are gone. */
  private async toParquet(claimed: ClaimedExport, path: string): Promise<void> {
    await parquetOf(growingFile(this.parts.settings.folder, claimed), path, exportColumns(claimed));
  }

  /** The lease is renewed while a large file is uploaded. */
  private async toBucket(claimed: ClaimedExport, path: string, size: number): Promise<void> {
    const { bucket, leases } = this.parts;
    if (!bucket) return;
    const renewing = setInterval(() => void leases.renew(claimed).catch(() => undefined), STEP_MS);
    try {
      await bucket.putFile(exportObject(claimed, claimed), path, size, { type: 'application/octet-stream' });
    } finally {
      clearInterval(renewing);
    }
  }

  private async failed(claimed: ClaimedExport, error: unknown): Promise<ExportEnding> {
    const problem = problemOf(claimed, error);
    if (problem === null) {
      await this.parts.leases.pause(claimed, triedAgain(claimed)).catch(() => undefined);
      throw error;
    }
    return (await this.parts.leases.fail(claimed, problem)) ? 'failed' : 'absent';
  }
}

const packingOf = (claimed: ClaimedExport) => ({
  format: claimed.format,
  compression: claimed.compression,
  columns: exportColumns(claimed),
});

const triedAgain = ({ tries }: ClaimedExport): string =>
  `Attempt ${tries} of ${MOST_TRIES} failed and will be retried. The log of the service has the cause.`;

function problemOf({ tries }: ClaimedExport, error: unknown): string | null {
  if (error instanceof ExportProblem) return error.message;
  if (error instanceof AppError && error.spec.status < 500) return error.message;
  if (DISK_FULL_CODES.has((error as NodeJS.ErrnoException).code))
    return 'The disk for export files is full. Ask the operator to free space, then start the export again.';
  return tries >= MOST_TRIES
    ? 'The export failed too often without progress. The log of the service has the cause.'
    : null;
}
