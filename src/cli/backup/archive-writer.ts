import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { type SectionChecksum, RunningChecksum } from './checksums.js';

const compress = promisify(gzip);
/** Uncompressed size of a part, which is held in memory. */
const PART_BYTES = 4 * 1024 * 1024;
const LEVEL = 3;
const PLACES = 6;

/**
 * Writes a backup as a tar archive. A small file is an entry; a large section is a folder of parts, each compressed by itself, so that
 * `zcat tables/users/*` gives the section without Gatehouse. Memory stays at a few parts, whatever the size.
 */
export class ArchiveWriter {
  private readonly pack = pack();
  private readonly writtenSections: SectionChecksum[] = [];
  private readonly at = new Date();

  /** The bytes of the archive, as they come. */
  get bytes(): AsyncIterable<Buffer> {
    return this.pack as AsyncIterable<Buffer>;
  }

  get sections(): readonly SectionChecksum[] {
    return this.writtenSections;
  }

  async file(name: string, text: string): Promise<void> {
    const checksum = new RunningChecksum(name);
    checksum.add(Buffer.from(text));
    this.writtenSections.push(checksum.end());
    await this.entry(name, Buffer.from(text));
  }

  /** `rows` is read when the parts have ended. */
  async section(name: string, stream: AsyncIterable<Buffer>, rows: () => number): Promise<SectionChecksum> {
    const checksum = new RunningChecksum(name);
    let number = 0;
    for await (const part of inParts(stream)) {
      checksum.add(part);
      number += 1;
      const entry = `${name}/${String(number).padStart(PLACES, '0')}.gz`;
      await this.entry(entry, await compress(part, { level: LEVEL }));
    }
    const done = checksum.end(rows());
    this.writtenSections.push(done);
    return done;
  }

  /** The last entry. */
  async end(name: string, text: string): Promise<void> {
    await this.entry(name, Buffer.from(text));
    this.pack.finalize();
  }

  /** The reader of `bytes` gets the error. */
  fail(error: Error): void {
    this.pack.destroy(error);
  }

  /** Resolves when the reader has taken the entry, which keeps the memory constant. */
  private entry(name: string, bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.pack.once('close', resolve);
      const entry = this.pack.entry({ name, size: bytes.length, mode: 0o600, mtime: this.at }, (error) => {
        this.pack.off('close', resolve);
        if (error) reject(error);
        else resolve();
      });
      entry.end(bytes);
    });
  }
}

/** The same bytes in buffers of `PART_BYTES` or a little more; the last one is smaller. */
async function* inParts(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let open: Buffer[] = [];
  let length = 0;
  for await (const bytes of stream) {
    open.push(bytes);
    length += bytes.length;
    if (length < PART_BYTES) continue;
    yield Buffer.concat(open);
    [open, length] = [[], 0];
  }
  if (length > 0) yield Buffer.concat(open);
}
