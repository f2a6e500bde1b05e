import { renameSync } from 'node:fs';
import { open, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { RESERVE_FILE } from './spool-files.js';

const CHUNK = Buffer.alloc(1024 * 1024);
const SMALLEST_BYTES = 64 * 1024;

/** Limits the reserve on small disks to this fraction of the free space, so that the reserve itself does not fill the disk. */
const PART_OF_FREE = 4;

/**
 * Disk space allocated in advance, so that records can still be written when the disk is full. Its blocks are actually written: a sparse
 * file would fail just when it is needed.
 */
export class Reserve {
  private readonly path: string;
  private bytes = 0;
  private preparing: Promise<boolean> | null = null;

  constructor(
    private readonly folder: string,
    private readonly wantedBytes: number,
  ) {
    this.path = join(folder, RESERVE_FILE);
  }

  get isReady(): boolean {
    return this.bytes > 0;
  }

  /** Allocates the space, if the disk has room beside it. Returns true when the reserve exists. Concurrent calls share one attempt. */
  prepare(): Promise<boolean> {
    this.preparing ??= this.take().finally(() => {
      this.preparing = null;
    });
    return this.preparing;
  }

  /** Turns the reserve into the file `path` and returns its size in bytes. Needs no free disk space. */
  useAs(path: string): number {
    const { bytes } = this;
    this.bytes = 0;
    renameSync(this.path, path);
    return bytes;
  }

  async drop(): Promise<void> {
    await this.preparing;
    this.bytes = 0;
    await rm(this.path, { force: true });
  }

  private async take(): Promise<boolean> {
    if (this.isReady) return true;
    const draft = `${this.path}.new`;
    try {
      const bytes = await this.affordable();
      if (bytes < SMALLEST_BYTES) return false;
      await fill(draft, bytes);
      await rename(draft, this.path);
      this.bytes = bytes;
      return true;
    } catch {
      await rm(draft, { force: true }).catch(() => undefined);
      return false;
    }
  }

  private async affordable(): Promise<number> {
    const { bavail, bsize } = await statfs(this.folder);
    return Math.min(this.wantedBytes, Math.floor((bavail * bsize) / PART_OF_FREE));
  }
}

async function fill(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    for (let done = 0; done < bytes;) {
      const { bytesWritten } = await file.write(CHUNK, 0, Math.min(CHUNK.length, bytes - done));
      done += bytesWritten;
    }
    await file.datasync();
  } finally {
    await file.close();
  }
}
