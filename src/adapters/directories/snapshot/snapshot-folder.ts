import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '../../../common/observability/logger.js';
import type { KeptRow } from './kept-row.js';
import { readSnapshot, writeSnapshot } from './snapshot-file.js';
import type { SnapshotSeal } from './snapshot-seal.js';

const FILE = /^gateway-(\d{1,4})\.snapshot$/;
const HALF_WRITTEN = /^gateway-(\d{1,4})\.snapshot\.[0-9a-f]+\.tmp$/;

const logger = createLogger('snapshot');

/**
 * The snapshots of an instance, one file per index of a gateway process: no two processes write the same file, and a restarted process
 * continues its predecessor's.
 */
export class SnapshotFolder {
  private readonly path: string;

  constructor(
    dataDir: string,
    private readonly seal: SnapshotSeal,
  ) {
    this.path = join(dataDir, 'snapshots');
  }

  /** Replaces the previous file of this index. */
  async write(place: number, rows: Iterable<KeptRow>): Promise<number> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    return writeSnapshot(this.fileOf(place), this.seal, rows);
  }

  /** All readable rows. An unusable file counts as empty, and the log gives the reason. */
  async read(): Promise<KeptRow[]> {
    const rows: KeptRow[] = [];
    for (const { name } of await this.files(FILE)) {
      const path = join(this.path, name);
      try {
        for (const row of await readSnapshot(path, this.seal)) rows.push(row);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        logger.warn({ path, reason }, 'A snapshot of keys and configs is not used.');
      }
    }
    return rows;
  }

  /** Removes incomplete files of this index and of indexes that no longer exist. Other processes may be writing theirs. */
  async removeHalfWritten(place: number, places: number): Promise<void> {
    await this.removeFiles(HALF_WRITTEN, (each) => each === place || each >= places);
  }

  /**
   * Removes files of indexes that no longer exist. Call it only after a current process has read their rows and written them to its own
   * file.
   */
  async removeBeyond(places: number): Promise<void> {
    await this.removeFiles(FILE, (place) => place >= places);
  }

  /** For an installation with snapshots turned off. */
  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  private async removeFiles(pattern: RegExp, isObsolete: (place: number) => boolean): Promise<void> {
    for (const { name, place } of await this.files(pattern))
      if (isObsolete(place)) await rm(join(this.path, name), { force: true });
  }

  private async files(pattern: RegExp): Promise<{ name: string; place: number }[]> {
    const names = await readdir(this.path).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    });
    return names.flatMap((name) => {
      const [, place] = pattern.exec(name) ?? [];
      return place === undefined ? [] : [{ name, place: Number(place) }];
    });
  }

  private fileOf(place: number): string {
    return join(this.path, `gateway-${place}.snapshot`);
  }
}
