import { mkdtempSync, readFileSync, rmSync, statSync, writevSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aBody, anOpened, aRecord, NO_BODIES } from '../../../test/support/exchanges.js';
import { encodeClosed, encodeOpened, type StoredFrame } from './frame.js';
import { readClosed, readOpened } from './frame-values.js';
import { isOwnerDead } from './owner.js';
import { type WriteVector } from './segment.js';
import { type PlacedFrame, readSegment, type SegmentLook } from './segment-reader.js';
import { listSegments, listWriters, retireSegment, segmentPath, sparesIn } from './spool-files.js';
import { SpoolWriter, type SpoolWriterOptions } from './spool-writer.js';

const MIB = 1024 * 1024;
const logger = pino({ level: 'silent' });
let spool: string;
beforeEach(() => (spool = mkdtempSync(join(tmpdir(), 'gatehouse-spool-'))));
afterEach(() => rmSync(spool, { recursive: true, force: true }));

const aWriter = (given: Partial<SpoolWriterOptions> = {}) =>
  new SpoolWriter({ spool, logger, reserveBytes: MIB, ...given });
const written = (writer: SpoolWriter) => new Promise<void>((resolve) => writer.whenWritten(resolve));
const folder = () => join(spool, listWriters(spool)[0] ?? '');

interface StoredRecord {
  /** In an opened frame. */
  readonly span_name?: string | null;
  /** In a closed frame. */
  readonly record?: { readonly span_name: string | null };
  /** Bytes of the request body. */
  readonly body: number;
}

const said = ({ kind, json }: StoredFrame) => (kind === 'opened' ? readOpened(json) : readClosed(json));

/** Every record in the spool, in order, as read from a dead writer. */
async function stored(): Promise<StoredRecord[]> {
  const found: StoredRecord[] = [];
  for (const segment of listSegments(folder()))
    for (let offset = 0; ;) {
      const look = await readSegment(segmentPath(folder(), segment), { segment, offset }, true);
      for (const { frame } of look.frames) found.push({ ...said(frame), body: frame.requestBody.length });
      if (look.status !== 'more') break;
      offset = look.next;
    }
  return found;
}

/** A disk that is full while `isFull`, and before that accepts only `partly` bytes. */
function aDisk() {
  const disk = { isFull: false, partly: 0 };
  const write: WriteVector = (fd, buffers, position) => {
    if (!disk.isFull) return writevSync(fd, buffers, position);
    if (disk.partly > 0) {
      const bytes = Buffer.concat(buffers).subarray(0, disk.partly);
      disk.partly = 0;
      return writevSync(fd, [bytes], position);
    }
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  };
  return { disk, write };
}

describe('SpoolWriter', () => {
  it('calls back in order, after one write for everything of the turn', async () => {
    let writes = 0;
    const calls: string[] = [];
    const writer = aWriter({ write: (...given) => (writes++, writevSync(...given)) });

    for (const name of ['a', 'b', 'c']) {
      writer.append(encodeOpened(anOpened({ span_name: name })));
      writer.whenWritten(() => calls.push(name));
    }
    expect([writes, calls]).toEqual([0, []]);
    await written(writer);

    expect([writes, calls]).toEqual([1, ['a', 'b', 'c']]);
    expect((await stored()).map(({ span_name }) => span_name)).toEqual(['a', 'b', 'c']);
    await writer.close();
  });

  it('has the bytes in the file before it calls back', async () => {
    const writer = aWriter();
    writer.append(encodeOpened(anOpened()));
    let bytes = 0;

    await new Promise<void>((resolve) =>
      writer.whenWritten(() => {
        bytes = readFileSync(segmentPath(folder(), 1)).length;
        resolve();
      }),
    );

    expect(bytes).toBeGreaterThan(300);
    await writer.close();
  });

  it('keeps calling the others when one callback throws', async () => {
    const writer = aWriter();
    writer.whenWritten(() => {
      throw new Error('a request in trouble');
    });

    await expect(written(writer)).resolves.toBeUndefined();
    await writer.close();
  });

  it('continues after a write that took only a part', async () => {
    const writer = aWriter({
      write: (fd, buffers, position) => writevSync(fd, [Buffer.concat(buffers).subarray(0, 100)], position),
    });
    const bodies = { request: aBody('x'.repeat(5000)), response: aBody('y'.repeat(3000)) };

    for (let n = 0; n < 3; n++) writer.append(encodeClosed(aRecord(), bodies));
    await written(writer);

    expect((await stored()).map(({ body }) => body)).toEqual([5000, 5000, 5000]);
    await writer.close();
  });

  it('begins a new segment when the old one is full, and loses nothing between', async () => {
    const writer = aWriter({ segmentBytes: 4096 });

    for (let n = 0; n < 50; n++) {
      writer.append(encodeOpened(anOpened({ span_name: `${n}` })));
      await written(writer);
    }

    expect(listSegments(folder()).length).toBeGreaterThan(3);
    expect((await stored()).map(({ span_name }) => Number(span_name))).toEqual(
      Array.from({ length: 50 }, (_, n) => n),
    );
    await writer.close();
  });

  it('says that it ended when it was closed, and that it lives before', async () => {
    const writer = aWriter();
    writer.append(encodeOpened(anOpened()));
    expect(isOwnerDead(folder())).toBe(false);

    await writer.close();

    expect(readFileSync(join(folder(), 'ended'))).toHaveLength(0);
    expect(await stored()).toHaveLength(1);
  });
});

describe('SpoolWriter in a file that is used again', () => {
  const OLD = 9;
  const nameIt = (span_name: string) => encodeOpened(anOpened({ span_name }));
  /** A writer whose first segment was filled with frames and is now its spare. */
  async function withSpare(write?: WriteVector): Promise<SpoolWriter> {
    const writer = aWriter({ segmentBytes: 9 * MIB, write });
    for (let n = 0; n < OLD; n++)
      writer.append(encodeClosed(aRecord(), { request: aBody(Buffer.alloc(MIB, n)), response: null }));
    await written(writer);
    writer.append(nameIt('of the second segment'));
    await written(writer);
    retireSegment(folder(), 1);
    return writer;
  }
  const fill = async (writer: SpoolWriter) => {
    for (let n = 0; n < 10; n++)
      writer.append(encodeClosed(aRecord(), { request: aBody(Buffer.alloc(MIB)), response: null }));
    await written(writer);
  };
  /** Reads the whole segment that reuses the spare. */
  async function look(skipDamage: boolean): Promise<SegmentLook> {
    const frames: PlacedFrame[] = [];
    for (let offset = 0; ;) {
      const found = await readSegment(segmentPath(folder(), 3), { segment: 3, offset }, skipDamage);
      frames.push(...found.frames);
      if (found.status !== 'more') return { ...found, frames };
      offset = found.next;
    }
  }

  it('takes its own old segment for the next one, and nothing old is read', async () => {
    const writer = await withSpare();
    const spare = statSync(sparesIn(folder())[0] ?? '').ino;
    await fill(writer);
    for (const name of ['new', 'newer']) {
      writer.append(nameIt(name));
      await written(writer);
    }

    expect(statSync(segmentPath(folder(), 3)).ino).toBe(spare);
    for (const isSealed of [false, true]) {
      const { frames, status, damaged } = await look(isSealed);
      expect(frames.map(({ frame }) => readOpened(frame.json).span_name)).toEqual(['new', 'newer']);
      expect([status, damaged]).toEqual(['end', 0]);
    }
    await writer.close();
    expect(statSync(segmentPath(folder(), 3)).size).toBe((await look(true)).next);
  });

  it('shows no old frame behind a write that broke off anywhere', async () => {
    const broken = { at: Number.POSITIVE_INFINITY };
    const writer = await withSpare((fd, buffers, position) => {
      const bytes = Buffer.concat(buffers).subarray(0, broken.at);
      const done = writevSync(fd, [bytes], position);
      return broken.at < Number.POSITIVE_INFINITY ? sizeOf(buffers) : done;
    });
    await fill(writer);
    writer.append(nameIt('whole'));
    await written(writer);
    broken.at = 200;
    writer.append(nameIt('half'));
    await written(writer);

    for (const isSealed of [false, true]) {
      const { frames, status } = await look(isSealed);
      expect(frames).toHaveLength(1);
      expect(status).toBe('torn');
    }
    await writer.close();
  });

  it('keeps nothing of an older use where files do not fill within a minute', async () => {
    const writer = await withSpare();
    await fill(writer);
    writer.append(nameIt('slow'));
    await written(writer);
    retireSegment(folder(), 2);
    const later = Date.now() + 61_000;
    writer['chain'].tidy(Date.now());
    expect([sparesIn(folder()).length, statSync(segmentPath(folder(), 3)).size]).toEqual([
      1,
      expect.closeTo(9 * MIB, -6),
    ]);

    writer['chain'].tidy(later);
    const { frames, status, next } = await look(false);
    expect(frames).toHaveLength(1);
    expect([sparesIn(folder()), status, statSync(segmentPath(folder(), 3)).size]).toEqual([[], 'end', next]);

    writer.append(nameIt('slower'));
    await written(writer);
    expect((await stored()).at(-1)?.span_name).toBe('slower');
    await writer.close();
  });

  it('keeps few of them, only full ones, and gives them back when the disk is full', async () => {
    const { disk, write } = aDisk();
    const writer = await withSpare(write);
    for (let n = 0; n < 7; n++) await fill(writer);
    for (const segment of listSegments(folder()).slice(0, -1)) retireSegment(folder(), segment);
    expect(sparesIn(folder())).toHaveLength(4);

    disk.isFull = true;
    writer.append(nameIt('no room'));
    await written(writer);
    disk.isFull = false;
    await expect.poll(() => writer.state).toBe('ok');

    expect(sparesIn(folder())).toEqual([]);
    await writer.close();
  });
});

const sizeOf = (buffers: readonly Buffer[]) => buffers.reduce((sum, { length }) => sum + length, 0);

describe('SpoolWriter on a full disk', () => {
  it('keeps records without bodies in the reserve, each once, then recovers by itself', async () => {
    const { disk, write } = aDisk();
    const writer = aWriter({
      write: (fd, buffers, position) =>
        writer?.state === 'degraded' ? writevSync(fd, buffers, position) : write(fd, buffers, position),
    });
    await expect.poll(() => readFileSync(join(folder(), 'reserve'))).toHaveLength(MIB);
    const append = async (name: string) => {
      writer.append(
        encodeClosed(aRecord(anOpened({ span_name: name })), {
          request: aBody('x'.repeat(2000)),
          response: null,
        }),
      );
      await written(writer);
    };

    await append('before');
    Object.assign(disk, { isFull: true, partly: 700 });
    await append('at');
    expect(writer.state).toBe('degraded');
    await append('during');
    disk.isFull = false;
    await expect.poll(() => writer.state).toBe('ok');
    await append('after');

    const records = await stored();
    expect(records.map(({ record, body }) => [record?.span_name, body])).toEqual([
      ['before', 2000],
      ['at', 0],
      ['during', 0],
      ['after', 2000],
    ]);
    await writer.close();
  });

  it('remembers records when the reserve is used up too, and writes them when there is space', async () => {
    const { disk, write } = aDisk();
    const writer = aWriter({ write });
    writer.append(encodeOpened(anOpened({ span_name: 'before' })));
    await written(writer);
    disk.isFull = true;
    let called = 0;
    for (const span_name of ['one', 'two']) {
      writer.append(encodeClosed(aRecord(anOpened({ span_name })), NO_BODIES));
      writer.whenWritten(() => called++);
    }
    await written(writer);
    expect([writer.state, called]).toEqual(['exhausted', 2]);

    disk.isFull = false;
    await expect.poll(() => writer.state).toBe('ok');

    expect((await stored()).map((found) => found.record?.span_name ?? found.span_name)).toEqual([
      'before',
      'one',
      'two',
    ]);
    await writer.close();
  });
});
