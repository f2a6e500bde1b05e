import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../../common/settings/secret.js';
import type { KeptRow } from './kept-row.js';
import { readRow, writeRow } from './row-text.js';
import { SNAPSHOT_BYTES_MAX } from './snapshot-file.js';
import { SnapshotFolder } from './snapshot-folder.js';
import { type Installation, SnapshotSeal } from './snapshot-seal.js';

const key = (): Secret => new Secret(randomBytes(32).toString('base64'));
const MINE: Installation = {
  masterKey: key(),
  keyPepper: key(),
  databaseUrl: new Secret('postgres://user:word@db.example:5432/gatehouse'),
};

const aRow = (name: string, row = 'row'): KeptRow => ({
  question: 'q',
  key: name,
  asked: { slug: name },
  row: writeRow(row),
  readAt: 1,
  wantedAt: 2,
});
const rows = (count: number): KeptRow[] => Array.from({ length: count }, (_, at) => aRow(`key ${at}`));

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-snapshot-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const folder = (installation: Partial<Installation> = {}): SnapshotFolder =>
  new SnapshotFolder(dataDir, new SnapshotSeal({ ...MINE, ...installation }));
const pathOf = (place: number): string => join(dataDir, 'snapshots', `gateway-${place}.snapshot`);

describe('a snapshot', () => {
  it('gives back the rows of every place, with their times and bytes', async () => {
    const row = {
      at: new Date(5),
      bytes: Buffer.from([0, 255, 128]),
      text: 'Ünïcode ✓',
      nested: [{ none: null }],
    };
    await folder().write(0, [{ ...aRow('a'), row: writeRow(row) }]);
    await folder().write(1, rows(3));

    const found = await folder().read();

    expect(found.map(({ key: name }) => name).sort()).toEqual(['a', 'key 0', 'key 1', 'key 2']);
    expect(readRow(found.find(({ key: name }) => name === 'a')?.row ?? '')).toEqual(row);
  });

  it('holds many parts, and what a place writes replaces what it wrote before', async () => {
    await folder().write(0, rows(5_000));
    expect(await folder().read()).toEqual(rows(5_000));
    await folder().write(0, rows(1));
    expect(await folder().read()).toEqual(rows(1));
  });

  it('shows nothing of what is in it', async () => {
    await folder().write(0, [aRow('a name that is nowhere else')]);
    const bytes = readFileSync(pathOf(0));
    expect(bytes.includes('a name')).toBe(false);
    expect(bytes.includes('slug')).toBe(false);
  });

  it('is no larger than it may be: what comes first is kept', async () => {
    const large = 'x'.repeat(8 * 1024 * 1024);
    const most = SNAPSHOT_BYTES_MAX / large.length;
    const many = Array.from({ length: 2 * most }, (_, at) => aRow(`key ${at}`, large));

    const count = await folder().write(0, many);

    expect(count).toBeGreaterThan(most / 2);
    expect(count).toBeLessThan(most);
    expect((await folder().read()).map(({ key: name }) => name)).toEqual(
      many.slice(0, count).map(({ key: name }) => name),
    );
  });

  it.each<[string, Partial<Installation>]>([
    ['with another master key', { masterKey: key() }],
    ['with another pepper', { keyPepper: key() }],
    ['for another database', { databaseUrl: new Secret('postgres://user:word@db.example:5432/other') }],
    ['on another host', { databaseUrl: new Secret('postgres://user:word@db2.example:5432/gatehouse') }],
  ])('is none %s', async (_, other) => {
    await folder().write(0, rows(2));
    expect(await folder(other).read()).toEqual([]);
    expect(await folder().read()).toEqual(rows(2));
  });

  it('is the same with another port and another password', async () => {
    await folder().write(0, rows(2));
    const moved = { databaseUrl: new Secret('postgres://user:other@db.example:6432/gatehouse') };
    expect(await folder(moved).read()).toEqual(rows(2));
  });

  it('is none when any byte of it was changed, wherever it was cut, and in another format', async () => {
    await folder().write(0, rows(2));
    const whole = readFileSync(pathOf(0));
    for (let at = 0; at < whole.length; at += 7) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(pathOf(0), changed);
      expect(await folder().read(), `byte ${at}`).toEqual([]);
      writeFileSync(pathOf(0), whole.subarray(0, at));
      expect(await folder().read(), `cut at ${at}`).toEqual([]);
    }
    writeFileSync(pathOf(0), Buffer.concat([Buffer.from('gatehouse snapshot 0\n'), whole.subarray(21)]));
    expect(await folder().read()).toEqual([]);
  });

  it('takes no part of another file', async () => {
    await folder().write(0, rows(2));
    await folder().write(1, rows(3));
    const [one, other] = [readFileSync(pathOf(0)), readFileSync(pathOf(1))];
    const HEAD_BYTES = 21 + 16;
    writeFileSync(pathOf(0), Buffer.concat([one.subarray(0, HEAD_BYTES), other.subarray(HEAD_BYTES)]));
    expect(await folder().read()).toEqual(rows(3));
  });

  it('that is invalid leaves those of other places unchanged', async () => {
    await folder().write(0, rows(2));
    await folder().write(1, rows(3));
    writeFileSync(pathOf(0), 'nothing');
    expect(await folder().read()).toEqual(rows(3));
  });
});

describe('files beside snapshots', () => {
  it('is tidied up: what was half written by this place, and the files of places that are no more', async () => {
    for (const place of [0, 1, 2]) await folder().write(place, rows(1));
    for (const place of [0, 1]) writeFileSync(`${pathOf(place)}.0123456789ab.tmp`, 'half');

    await folder().removeHalfWritten(0, 2);
    await folder().removeBeyond(2);

    // Another process may be writing its own file right now.
    expect(readdirSync(join(dataDir, 'snapshots')).sort()).toEqual([
      'gateway-0.snapshot',
      'gateway-1.snapshot',
      'gateway-1.snapshot.0123456789ab.tmp',
    ]);
  });

  it('may be nothing at all', async () => {
    await folder().removeHalfWritten(0, 1);
    await folder().removeBeyond(1);
    expect(await folder().read()).toEqual([]);
    await folder().remove();
  });
});
