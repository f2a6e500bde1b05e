import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { LauncherError } from '../launcher-error.js';
import {
  type BackupChecksums,
  readChecksums,
  RunningChecksum,
  type SectionChecksum,
  signedText,
} from './checksums.js';
import { ENTRIES } from './manifest.js';
import type { BackupKeys } from './sealed-secrets.js';

const decompress = promisify(gunzip);
/** Far above the parts that `ArchiveWriter` writes, and far below the memory of a machine. */
const ENTRY_LIMIT_BYTES = 64 * 1024 * 1024;

/** The next bytes of a section, uncompressed. */
export interface ArchivePart {
  readonly section: string;
  readonly bytes: Buffer;
}

/** The parts of an archive in their order, the checksums last. Rejects when the file ends too early. `onRead`: bytes read so far. */
export async function* readArchive(
  path: string,
  onRead: (bytes: number) => void = () => undefined,
): AsyncGenerator<ArchivePart> {
  const file = createReadStream(path, { highWaterMark: 1024 * 1024 });
  const archive = extract();
  let last = '';
  file.once('error', (error) => archive.destroy(error));
  file.pipe(archive);
  try {
    for await (const entry of archive) {
      const { name, size } = entry.header;
      if (size > ENTRY_LIMIT_BYTES) throw new Error(`the entry ${name} is too large`);
      const bytes = await buffer(entry);
      last = name;
      onRead(file.bytesRead);
      yield name.endsWith('.gz')
        ? { section: name.slice(0, name.lastIndexOf('/')), bytes: await unpacked(bytes) }
        : { section: name, bytes };
    }
  } catch (cause) {
    throw cause instanceof LauncherError ? cause : damaged(path, (cause as Error).message, cause);
  } finally {
    file.destroy();
  }
  if (last !== ENTRIES.checksums) throw damaged(path, 'it has no checksums at its end');
}

const unpacked = (bytes: Buffer): Promise<Buffer> =>
  decompress(bytes, { maxOutputLength: ENTRY_LIMIT_BYTES });

const damaged = (path: string, reason: string, cause?: unknown): LauncherError =>
  new LauncherError(
    `${path} is not a complete backup: ${reason}. The backup was interrupted, or the file was changed or cut.`,
    { cause },
  );

/** The small files of a backup. */
export interface BackupHead {
  readonly manifest: string;
  readonly secrets: string;
}

/** The first two entries. */
export async function readHead(path: string): Promise<BackupHead> {
  const head: string[] = [];
  for await (const { section, bytes } of readArchive(path)) {
    if (section !== [ENTRIES.manifest, ENTRIES.secrets][head.length])
      throw damaged(path, `it begins with ${section}`);
    if (head.push(bytes.toString('utf8')) === 2) break;
  }
  const [manifest, secrets] = head;
  if (manifest === undefined || secrets === undefined) throw damaged(path, 'it is empty');
  return { manifest, secrets };
}

/** Reads the whole archive and compares every section with its checksum, and the checksums with their signature. */
export async function verifyArchive(
  path: string,
  keys: BackupKeys,
  onRead: (bytes: number) => void,
): Promise<BackupChecksums> {
  const sections: SectionChecksum[] = [];
  let open: RunningChecksum | null = null;
  let checksums: BackupChecksums | null = null;
  for await (const { section, bytes } of readArchive(path, onRead)) {
    if (open && open.name !== section) {
      sections.push(open.end());
      open = null;
    }
    if (section === ENTRIES.checksums) checksums = readChecksums(bytes.toString('utf8'));
    else (open ??= new RunningChecksum(section)).add(bytes);
  }
  if (!checksums) throw damaged(path, 'it has no checksums');
  if (!keys.hasSigned(signedText(checksums.sections), checksums.signature))
    throw damaged(path, 'its checksums were not written with this passphrase');
  compare(path, checksums.sections, sections);
  return checksums;
}

/** A section without bytes has no part. */
function compare(
  path: string,
  expected: readonly SectionChecksum[],
  sections: readonly SectionChecksum[],
): void {
  const withBytes = expected.filter(({ bytes }) => bytes > 0);
  const wrong = withBytes.find(({ name, sha256 }, index) => {
    const there = sections[index];
    return there?.name !== name || there.sha256 !== sha256;
  });
  if (wrong) throw damaged(path, `the section ${wrong.name} does not match its checksum`);
  if (sections.length !== withBytes.length) throw damaged(path, 'it has sections without a checksum');
}
