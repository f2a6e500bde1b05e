import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Secret } from '../../common/settings/secret.js';
import { AppError } from '../../common/errors/app-error.js';
import { SnapshotFolder } from './snapshot/snapshot-folder.js';
import { SnapshotSeal } from './snapshot/snapshot-seal.js';
import { DirectorySnapshot } from './directory-snapshot.js';
import { RefreshingCache } from './refreshing-cache.js';

interface SnapshotThing {
  readonly id: string;
  readonly version: number;
}

const HOUR_MS = 3_600_000;
const key = (): Secret => new Secret(randomBytes(32).toString('base64'));
const seal = new SnapshotSeal({
  masterKey: key(),
  keyPepper: key(),
  databaseUrl: new Secret('postgres://user@db.example/gatehouse'),
});
const gone = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-snapshot-'));
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  processes.clear();
});
afterEach(async () => {
  await Promise.all([...processes].map((each) => each.onApplicationShutdown()));
  vi.useRealTimers();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The running processes: only these make rounds as time passes. */
const processes = new Set<DirectorySnapshot>();

/** The store that all processes share, also across restarts. */
const things = new Map<string, SnapshotThing>();
const store = { isUnavailable: false, loads: 0 };
beforeEach(() => {
  things.clear();
  Object.assign(store, { isUnavailable: false, loads: 0 });
});

interface Life {
  readonly place?: number;
  readonly places?: number;
  readonly staleMs?: number;
  readonly question?: string;
  readonly isWanted?: boolean;
  readonly folder?: SnapshotFolder;
}

/** A process, just started. */
async function aProcess({
  place = 0,
  places = 2,
  staleMs = HOUR_MS,
  question = 'by name',
  isWanted = true,
  folder = new SnapshotFolder(dataDir, seal),
}: Life = {}) {
  const cache = new RefreshingCache<string, SnapshotThing, SnapshotThing>({
    load: (name) => {
      store.loads += 1;
      return store.isUnavailable ? Promise.reject(gone()) : Promise.resolve(things.get(name) ?? null);
    },
    open: (thing) => thing,
    idOf: ({ id }) => id,
    agesOf: () => ({ softMs: 10_000, hardMs: 20_000, staleMs }),
    question,
    lasting: (name) => name,
  });
  const snapshot = new DirectorySnapshot([cache], folder, { places, isWanted });
  await snapshot.begin(place);
  processes.add(snapshot);
  const find = async (name: string): Promise<unknown> => {
    try {
      return await cache.find(name, name);
    } catch (error) {
      return error instanceof AppError ? error.code : error;
    }
  };
  return { cache, find, end: () => (processes.delete(snapshot), snapshot.onApplicationShutdown()) };
}

const put = (name: string, version = 1): SnapshotThing => {
  const thing = { id: `id-${name}`, version };
  things.set(name, thing);
  return thing;
};

/** Advances the clock by `ms`, after which each process makes a round. */
async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  for (const each of processes) await each.round();
}

describe('a process that starts while the store is unavailable', () => {
  it('knows what the one before it knew, and nothing else', async () => {
    const thing = put('a');
    put('b');
    const before = await aProcess();
    await before.find('a');
    await before.end();
    store.isUnavailable = true;

    const after = await aProcess();

    expect(await after.find('a')).toEqual(thing);
    expect(await after.find('b')).toBe('auth_unavailable');
  });

  it('knows it also when the one before it was killed, but for the last ten seconds', async () => {
    const thing = put('a');
    const before = await aProcess();
    await pass(2_000);
    await before.find('a');
    await pass(12_000);
    store.isUnavailable = true;

    expect(await (await aProcess()).find('a')).toEqual(thing);
  });

  it('knows what all the processes of the instance knew', async () => {
    const [one, other] = [await aProcess({ place: 0 }), await aProcess({ place: 1 })];
    const [a, b] = [put('a'), put('b')];
    await one.find('a');
    await other.find('b');
    await one.end();
    await other.end();
    store.isUnavailable = true;

    const after = await aProcess({ place: 0, places: 1 });

    expect([await after.find('a'), await after.find('b')]).toEqual([a, b]);
    await pass(1_000);
    expect(readdirSync(join(dataDir, 'snapshots'))).toEqual(['gateway-0.snapshot']);
  });

  it('has nothing that was invalidated a second before', async () => {
    put('a');
    const before = await aProcess();
    await before.find('a');
    await pass(12_000);
    before.cache.forget('id-a');
    await pass(1_000);
    store.isUnavailable = true;

    expect(await (await aProcess()).find('a')).toBe('auth_unavailable');
  });

  it('is not busy with writing, however much is invalidated: it rests for twenty times as long as that took', async () => {
    let writes = 0;
    class SlowFolder extends SnapshotFolder {
      override write(): Promise<number> {
        writes += 1;
        vi.advanceTimersByTime(500);
        return Promise.resolve(0);
      }
    }
    const { cache, find, end } = await aProcess({ folder: new SlowFolder(dataDir, seal) });
    for (let second = 0; second < 60; second++) {
      put('a');
      await find('a');
      cache.forget('id-a');
      await pass(1_000);
    }
    expect(writes).toBeGreaterThan(3);
    expect(writes).toBeLessThan(8);
    await end();
  });

  it('knows nothing that the store did not have any more when it was read again', async () => {
    put('a');
    const before = await aProcess();
    await before.find('a');
    await pass(12_000);
    things.delete('a');
    // A change that may concern it, and no request for it meanwhile.
    before.cache.clear();
    await pass(3_000);
    store.isUnavailable = true;

    expect(await (await aProcess()).find('a')).toBe('auth_unavailable');
  });

  it('knows nothing for longer than it may be used, measured from when it was read', async () => {
    put('a');
    const before = await aProcess();
    await before.find('a');
    await before.end();
    store.isUnavailable = true;
    vi.setSystemTime(Date.now() + 0.9 * HOUR_MS);
    const after = await aProcess();
    expect(await after.find('a')).toMatchObject({ id: 'id-a' });
    await pass(0.2 * HOUR_MS);
    expect(await after.find('a')).toBe('auth_unavailable');
    await after.end();

    expect(await (await aProcess()).find('a')).toBe('auth_unavailable');
  });

  it('knows nothing that was read in the future, as a clock that was set back would have it', async () => {
    put('a');
    const before = await aProcess();
    await before.find('a');
    await before.end();
    store.isUnavailable = true;
    vi.setSystemTime(Date.now() - HOUR_MS);

    expect(await (await aProcess()).find('a')).toBe('auth_unavailable');
  });

  it('ignores the snapshot of a release with other queries', async () => {
    put('a');
    const before = await aProcess();
    await before.find('a');
    await before.end();
    store.isUnavailable = true;

    expect(await (await aProcess({ question: 'by name and colour' })).find('a')).toBe('auth_unavailable');
  });

  it('starts as without a snapshot when that is damaged', async () => {
    put('a');
    const before = await aProcess();
    await before.find('a');
    await before.end();
    for (const name of readdirSync(join(dataDir, 'snapshots')))
      writeFileSync(join(dataDir, 'snapshots', name), randomBytes(100));
    store.isUnavailable = true;

    expect(await (await aProcess()).find('a')).toBe('auth_unavailable');
  });

  it('keeps and finds none where known keys end at once', async () => {
    put('a');
    const before = await aProcess();
    await before.find('a');
    await before.end();

    const unwanted = await aProcess({ isWanted: false });
    await unwanted.end();

    expect(readdirSync(dataDir)).toEqual([]);
  });
});

describe('while the store responds', () => {
  it('no snapshot is used: the first lookup reads the store', async () => {
    put('a', 1);
    const before = await aProcess();
    await before.find('a');
    await before.end();
    put('a', 2);

    expect(await (await aProcess()).find('a')).toMatchObject({ version: 2 });
  });

  it('what was taken back is read again, so that the store may go right afterwards', async () => {
    put('a', 1);
    put('b', 1);
    const before = await aProcess();
    await before.find('a');
    await before.find('b');
    await before.end();
    const second = await aProcess();
    put('a', 2);
    things.delete('b');
    await pass(2_000);
    store.isUnavailable = true;

    expect(await second.find('a')).toMatchObject({ version: 2 });
    expect(await second.find('b'), 'known to be gone').toBeNull();
  });
});
