import { createHash, type Hash } from 'node:crypto';
import { z } from 'zod';
import { ENTRIES } from './manifest.js';
import { parseEntry } from './parse-entry.js';

const sections = z.array(
  z.object({ name: z.string(), bytes: z.int(), sha256: z.string(), rows: z.int().optional() }),
);
const checksums = z.object({ sections, signature: z.string() });

/** The last entry of a backup: without it the archive is incomplete. */
export type BackupChecksums = z.infer<typeof checksums>;
/** Of the uncompressed bytes of a section. `rows` for a table. */
export type SectionChecksum = BackupChecksums['sections'][number];

export const readChecksums = (text: string): BackupChecksums =>
  parseEntry(ENTRIES.checksums, checksums, text);

/** The text that is signed: the same for what was written and for what was read. */
export const signedText = (section: readonly SectionChecksum[]): string =>
  JSON.stringify(section.map(({ name, bytes, sha256, rows }) => [name, bytes, sha256, rows ?? null]));

/** The checksum of one section while its parts pass. */
export class RunningChecksum {
  private readonly hash: Hash = createHash('sha256');
  private bytes = 0;

  constructor(readonly name: string) {}

  add(part: Buffer): void {
    this.hash.update(part);
    this.bytes += part.length;
  }

  end(rows?: number): SectionChecksum {
    const section = { name: this.name, bytes: this.bytes, sha256: this.hash.digest('hex') };
    return rows === undefined ? section : { ...section, rows };
  }
}
