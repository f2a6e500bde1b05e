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
 * The snapshots of an instance: one file for each place of a gateway process, so that no two processes write the same
 * one, and a process takes over that of the one before it.
 */
export class SnapshotFolder {
  private readonly path: string;

  constructor(
    dataDir: string,
    private readonly seal: SnapshotSeal,
  ) {
    this.path = join(dataDir, 'snapshots');
  }

  /** In place of what this place wrote before. */
  async write(place: number, rows: Iterable<KeptRow>): Promise<number> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    return writeSnapshot(this.fileOf(place), this.seal, rows);
  }

  /** All rows that can be read. A file that cannot be believed counts as none, and the log says why. */
  async read(): Promise<KeptRow[]> {
    const found: KeptRow[] = [];
    for (const { name } of await this.files(FILE)) {
      const path = join(this.path, name);
      try {
        for (const row of await readSnapshot(path, this.seal)) found.push(row);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        logger.warn({ path, reason }, 'A snapshot of keys and configs is not used.');
      }
    }
    return found;
  }

  /** Removes what writes left half done, of this place and of those that are no more. Others may be writing right now. */
  async removeHalfWritten(place: number, places: number): Promise<void> {
    await this.removeFiles(HALF_WRITTEN, (each) => each === place || each >= places);
  }

  /** Removes the files of places that are no more: only after what they hold was read and written by one that is. */
  async removeBeyond(places: number): Promise<void> {
    await this.removeFiles(FILE, (place) => place >= places);
  }

  /** For an installation that wants none. */
  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  private async removeFiles(pattern: RegExp, isOver: (place: number) => boolean): Promise<void> {
    for (const { name, place } of await this.files(pattern))
      if (isOver(place)) await rm(join(this.path, name), { force: true });
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
