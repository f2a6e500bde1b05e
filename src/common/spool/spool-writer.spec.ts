import { mkdtempSync, readFileSync, rmSync, writevSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aBody, anOpened, aRecord, NO_BODIES } from '../../../test/support/exchanges.js';
import { encodeClosed, encodeOpened } from './frame.js';
import { isOwnerDead } from './owner.js';
import { type WriteVector } from './segment.js';
import { readSegment } from './segment-reader.js';
import { listSegments, listWriters, segmentPath } from './spool-files.js';
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
  /** Of an opened frame. */
  readonly span_name: string;
  /** Of a closed frame. */
  readonly record?: { readonly span_name: string };
  /** Bytes of the request body. */
  readonly body: number;
}

/** Every record in the spool, in order, read as a dead writer's. */
async function stored(): Promise<StoredRecord[]> {
  const found: StoredRecord[] = [];
  for (const segment of listSegments(folder()))
    for (let offset = 0; ;) {
      const look = await readSegment(segmentPath(folder(), segment), offset, true);
      for (const { frame } of look.frames)
        found.push({ ...JSON.parse(frame.json.toString()), body: frame.requestBody.length });
      if (look.status !== 'more') break;
      offset = look.next;
    }
  return found;
}

/** A disk that is full as long as `isFull`, and before that takes only `partly` bytes. */
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

  it('goes on after a write that took only a part', async () => {
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

  it('remembers records when the reserve is used up too, and writes them when there is room', async () => {
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
