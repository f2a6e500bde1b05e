import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { exportFile, type ExportFileFacts } from '../../request-log/log-export.js';

const FOR_OWNER = 0o600;
const FOLDER_FOR_OWNER = 0o700;

/** The file that grows: the finished file itself, but for Parquet the pieces that it will be made from. */
export const growingFile = (folder: string, facts: ExportFileFacts): string =>
  facts.format === 'parquet' ? `${exportFile(folder, facts)}.columns` : exportFile(folder, facts);

/** A file that is valid up to some byte, and continued from there. */
export class GrowingFile {
  private constructor(
    private readonly handle: FileHandle,
    public bytes: number,
  ) {}

  /**
   * Opens the file, valid up to `bytes`, and truncates the rest. Null when it is shorter: it was written on another machine, or was
   * deleted.
   */
  static async open(folder: string, path: string, bytes: number): Promise<GrowingFile | null> {
    await mkdir(folder, { recursive: true, mode: FOLDER_FOR_OWNER });
    const handle = await open(path, bytes === 0 ? 'w+' : 'r+', FOR_OWNER).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    });
    if (!handle) return null;
    if ((await handle.stat()).size < bytes) {
      await handle.close();
      return null;
    }
    await handle.truncate(bytes);
    return new GrowingFile(handle, bytes);
  }

  /** Resolves once the piece is on disk. */
  async append(piece: Buffer): Promise<void> {
    for (let written = 0; written < piece.length;) {
      const { bytesWritten } = await this.handle.write(
        piece,
        written,
        piece.length - written,
        this.bytes + written,
      );
      written += bytesWritten;
    }
    await this.handle.datasync();
    this.bytes += piece.length;
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}
