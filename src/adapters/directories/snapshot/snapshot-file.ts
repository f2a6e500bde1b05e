import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { writeAtomically } from '../../../common/files/write-atomically.js';
import type { KeptRow } from './kept-row.js';
import type { SnapshotSeal } from './snapshot-seal.js';

/**
 * A file of rows: the format's name, the file's id, then parts. A part is its length (4 bytes) and encrypted rows. The last part has no
 * rows, so that a truncated file is detected. Nothing in it is readable without the master key.
 */
const FORMAT = Buffer.from('gatehouse snapshot 1\n');
const ID_BYTES = 16;
const LENGTH_BYTES = 4;
const PART_CHARS = 128 * 1024;
/** Approximate overhead of a row, in characters. */
const ROW_CHARS = 200;
export const SNAPSHOT_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Writes the rows in this order until the file is full and leaves out the rest. Returns how many were written. Yields to the event loop
 * between two parts.
 */
export async function writeSnapshot(
  path: string,
  seal: SnapshotSeal,
  rows: Iterable<KeptRow>,
): Promise<number> {
  const id = randomBytes(ID_BYTES);
  let written = 0;
  async function* parts(): AsyncGenerator<Buffer> {
    yield Buffer.concat([FORMAT, id]);
    let number = 0;
    const sealed = (some: readonly KeptRow[]): Buffer => {
      const part = seal.seal(id.toString('hex'), number++, serialize(some));
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt32BE(part.length);
      return Buffer.concat([length, part]);
    };
    for (const some of inParts(rows)) {
      written += some.length;
      yield sealed(some);
      await nextTurn();
    }
    yield sealed([]);
  }
  await writeAtomically(path, parts());
  return written;
}

function* inParts(rows: Iterable<KeptRow>): Generator<readonly KeptRow[]> {
  let part: KeptRow[] = [];
  let chars = 0;
  let bytesLeft = SNAPSHOT_BYTES_MAX - PART_CHARS * 2;
  for (const row of rows) {
    const size = row.key.length + row.row.length + ROW_CHARS;
    if (size > bytesLeft) break;
    bytesLeft -= size;
    chars += size;
    part.push(row);
    if (chars < PART_CHARS) continue;
    yield part;
    [part, chars] = [[], 0];
  }
  if (part.length > 0) yield part;
}

/** Throws, with a reason for the operator, when the file is truncated, not authentic, or of another format. */
export async function readSnapshot(path: string, seal: SnapshotSeal): Promise<KeptRow[]> {
  if ((await stat(path)).size > SNAPSHOT_BYTES_MAX) throw new Error('it is too large');
  const bytes = await readFile(path);
  if (!bytes.subarray(0, FORMAT.length).equals(FORMAT)) throw new Error('it is of another format');
  const id = bytes.subarray(FORMAT.length, FORMAT.length + ID_BYTES).toString('hex');
  const rows: KeptRow[] = [];
  let at = FORMAT.length + ID_BYTES;
  for (let number = 0; ; number++) {
    if (at + LENGTH_BYTES > bytes.length) throw new Error('its end is missing');
    const end = at + LENGTH_BYTES + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new Error('its end is missing');
    const some = opened(seal, id, number, bytes.subarray(at + LENGTH_BYTES, end));
    if (some.length === 0) return rows;
    rows.push(...some);
    at = end;
  }
}

function opened(seal: SnapshotSeal, id: string, number: number, sealed: Buffer): readonly KeptRow[] {
  let clear: Buffer;
  try {
    clear = seal.open(id, number, sealed);
  } catch (cause) {
    throw new Error('it is damaged, or of another installation or master key', { cause });
  }
  return deserialize(clear) as readonly KeptRow[];
}
