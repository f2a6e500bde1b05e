import { describe, expect, it } from 'vitest';
import { AppError } from '../../common/errors/app-error.js';
import { type Ages, RefreshingCache } from './refreshing-cache.js';

interface CachedThing {
  readonly id: string;
  readonly version: number;
}

const AGES: Ages = { softMs: 10_000, hardMs: 20_000, staleMs: 3_600_000 };
const givenUp = () =>
  Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
const gone = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** A store whose values can change, fail or block, and a clock that only the test moves. */
const aStore = (ages = AGES, bounds: { maxFound?: number; maxAbsent?: number } = {}) => {
  const things = new Map<string, CachedThing>();
  const state = { now: 0, loads: 0, failure: null as Error | null, gate: null as Promise<void> | null };
  const cache = new RefreshingCache<string, CachedThing, CachedThing>({
    load: async (name) => {
      state.loads += 1;
      const { failure } = state;
      const read = things.get(name) ?? null;
      if (state.gate) await state.gate;
      if (failure) throw failure;
      return read;
    },
    open: (thing) => thing,
    idOf: ({ id }) => id,
    agesOf: () => ages,
    now: () => state.now,
    ...bounds,
  });
  const put = (name: string, version: number) => things.set(name, { id: `id-${name}`, version });
  return { things, state, cache, put, find: (name: string) => cache.find(name, name) };
};

const settled = () => new Promise((resolve) => setImmediate(resolve));
const code = (found: unknown) =>
  Promise.resolve(found).then(
    (value) => value,
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );
const hold = () => {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  return { gate, open };
};

describe('a requested value', () => {
  it('is loaded once for simultaneous lookups, and then found without a promise', async () => {
    const { find, state, put } = aStore();
    put('a', 1);

    const [first, second] = await Promise.all([find('a'), find('a')]);

    expect(first).toEqual({ id: 'id-a', version: 1 });
    expect(second).toBe(first);
    expect(find('a')).toBe(first);
    expect(state.loads).toBe(1);
  });

  it('is refreshed in the background past its soft age, while it serves', async () => {
    const { find, state, put } = aStore();
    put('a', 1);
    await find('a');
    put('a', 2);
    state.now = 10_000;

    expect(find('a')).toMatchObject({ version: 1 });
    expect(find('a')).toMatchObject({ version: 1 });
    await settled();

    expect(find('a')).toMatchObject({ version: 2 });
    expect(state.loads).toBe(2);
  });

  it('blocks the lookup past its hard age', async () => {
    const { find, state, put } = aStore();
    put('a', 1);
    await find('a');
    put('a', 2);
    state.now = 20_000;

    expect(find('a')).toBeInstanceOf(Promise);
    expect(await find('a')).toMatchObject({ version: 2 });
  });

  it('is gone past its soft age when the store has it no more', async () => {
    const { find, state, put, things } = aStore();
    put('a', 1);
    await find('a');
    things.delete('a');
    state.now = 10_000;
    void find('a');
    await settled();

    expect(find('a')).toBeNull();
  });

  it('is remembered as absent for thirty seconds', async () => {
    const { find, state, put } = aStore();
    expect(await find('a')).toBeNull();
    put('a', 1);
    state.now = 29_999;
    expect(find('a')).toBeNull();
    state.now = 30_000;

    expect(await find('a')).toMatchObject({ version: 1 });
  });

  it('cannot be pushed out by names that do not exist, and those are bounded too', async () => {
    const { find, state, put } = aStore(AGES, { maxFound: 2, maxAbsent: 10 });
    put('a', 1);
    await find('a');
    for (let i = 0; i < 100; i++) await find(`guess-${i}`);
    expect(find('a')).toMatchObject({ version: 1 });
    const before = state.loads;
    expect(find('guess-99')).toBeNull();
    expect(state.loads).toBe(before);
    await find('guess-0');
    expect(state.loads).toBe(before + 1);

    put('b', 1).set('c', { id: 'id-c', version: 1 });
    await find('b');
    await find('c');
    expect(find('c')).toMatchObject({ id: 'id-c' });
    expect(find('a')).toBeInstanceOf(Promise);
  });
});

describe('a change', () => {
  it('is visible to the next lookup', async () => {
    const { find, cache, put } = aStore();
    put('a', 1);
    await find('a');
    put('a', 2);
    cache.forget('id-a');

    expect(await find('a')).toMatchObject({ version: 2 });
  });

  it('drops every name of the changed thing and leaves the others', async () => {
    const { find, cache, things } = aStore();
    things
      .set('old', { id: 'x', version: 1 })
      .set('new', { id: 'x', version: 1 })
      .set('b', { id: 'y', version: 1 });
    for (const name of ['old', 'new', 'b']) await find(name);
    cache.forget('x');

    expect(find('old')).toBeInstanceOf(Promise);
    expect(find('new')).toBeInstanceOf(Promise);
    expect(find('b')).toMatchObject({ id: 'y' });
  });

  it('makes absent things be looked for again', async () => {
    const { find, cache, put } = aStore();
    expect(await find('a')).toBeNull();
    put('a', 1);
    cache.forget('id-a');

    expect(await find('a')).toMatchObject({ version: 1 });
  });

  it.each(['forget', 'clear'] as const)('during a load makes it read again, after %s', async (how) => {
    const { find, cache, put, things, state } = aStore();
    put('a', 1);
    const { gate, open } = hold();
    state.gate = gate;
    const early = find('a');
    things.delete('a');
    if (how === 'forget') cache.forget('id-a');
    else cache.clear();
    const late = find('a');
    open();

    expect(await early).toBeNull();
    expect(await late).toBeNull();
    expect(find('a')).toBeNull();
  });

  it('of other things during a load leaves it one load, which is remembered, however many they are', async () => {
    const { find, cache, put, state } = aStore();
    put('a', 1);
    const { gate, open } = hold();
    state.gate = gate;
    const early = find('a');
    for (let other = 0; other < 100; other++) cache.forget(`id-of-another-${other}`);
    const late = find('a');
    open();

    expect(await early).toMatchObject({ version: 1 });
    expect(await late).toMatchObject({ version: 1 });
    expect(find('a')).toMatchObject({ version: 1 });
    expect(state.loads).toBe(1);
  });

  it('again and again during a load is visible to every later lookup', async () => {
    const { find, cache, put, state } = aStore();
    put('a', 1);
    const { gate, open } = hold();
    state.gate = gate;
    const early = find('a');
    cache.forget('id-a');
    put('a', 2);
    cache.forget('id-a');
    const late = find('a');
    expect(state.loads).toBe(2);
    open();

    expect(await early).toMatchObject({ version: 2 });
    expect(await late).toMatchObject({ version: 2 });
    expect(find('a')).toMatchObject({ version: 2 });
  });

  it('during a background refresh is not overwritten by what the refresh read before it', async () => {
    const { find, cache, put, things, state } = aStore();
    put('a', 1);
    await find('a');
    state.now = 10_000;
    const { gate, open } = hold();
    state.gate = gate;
    void find('a');
    things.delete('a');
    cache.forget('id-a');
    open();
    await settled();

    expect(await find('a')).toBeNull();
  });

  it('that may have been missed makes everything be read again', async () => {
    const { find, cache, put } = aStore();
    put('a', 1);
    await find('a');
    put('a', 2);
    cache.clear();

    expect(await find('a')).toMatchObject({ version: 2 });
    expect(find('a')).toMatchObject({ version: 2 });
  });
});

describe('an unavailable store', () => {
  it.each([
    ['cannot be reached', gone],
    ['gives up what it was asked, because it is too busy', givenUp],
  ])('and %s leaves what is known working until it is too stale, and nothing else', async (_, failure) => {
    const { find, state, put } = aStore();
    put('a', 1);
    await find('a');
    state.failure = failure();

    state.now = 3_599_999;
    expect(await find('a')).toMatchObject({ version: 1 });
    expect(await code(find('b'))).toBe('auth_unavailable');
    state.now = 3_600_000;
    expect(await code(find('a'))).toBe('auth_unavailable');
  });

  it('leaves what is known working after messages may have been missed', async () => {
    const { find, cache, state, put } = aStore();
    put('a', 1);
    await find('a');
    state.failure = gone();
    cache.clear();

    expect(await find('a')).toMatchObject({ version: 1 });
  });

  it('does not bring back what was dropped', async () => {
    const { find, cache, state, put } = aStore();
    put('a', 1);
    await find('a');
    state.failure = gone();
    cache.forget('id-a');

    expect(await code(find('a'))).toBe('auth_unavailable');
  });

  it('does not delay each request: one request a second queries it, the others return at once', async () => {
    const { find, state, put } = aStore();
    put('a', 1);
    await find('a');
    state.failure = gone();
    state.now = 20_000;
    await find('a');
    const loads = state.loads;

    state.now = 20_500;
    for (let i = 0; i < 10; i++) expect(find('a')).toMatchObject({ version: 1 });
    expect(await code(find('unknown'))).toBe('auth_unavailable');
    expect(state.loads).toBe(loads);
    state.now = 21_000;
    for (let i = 0; i < 10; i++) expect(find('a')).toMatchObject({ version: 1 });
    expect(state.loads).toBe(loads + 1);
    await settled();

    state.failure = null;
    put('a', 2);
    state.now = 22_000;
    void find('a');
    await settled();
    expect(find('a')).toMatchObject({ version: 2 });
  });

  it('is queried by the first lookup after an idle period', async () => {
    const { find, state, put } = aStore();
    put('a', 1);
    await find('a');
    state.failure = gone();
    state.now = 20_000;
    await find('a');
    state.failure = null;
    put('a', 2);
    state.now = 30_000;

    expect(await find('a')).toMatchObject({ version: 2 });
  });

  it('is not the same as one that refuses: then what is known ends with its hard age', async () => {
    const { find, state, put } = aStore();
    put('a', 1);
    await find('a');
    const refusal = new Error('relation "api_keys" does not exist');
    state.failure = refusal;
    state.now = 15_000;
    expect(find('a')).toMatchObject({ version: 1 });
    await settled();
    state.now = 20_000;

    expect(await code(find('a'))).toBe(refusal);
  });
});

describe('a value whose row is kept', () => {
  it('is refreshed every ten minutes, and dropped after a day without use', async () => {
    const { find, state, put, cache } = aStore();
    cache.keepRows();
    put('a', 1);
    await find('a');
    state.now += 600_000 - 1;
    await cache.renew(10);
    expect(state.loads).toBe(1);

    state.now += 1;
    await cache.renew(10);
    await cache.renew(10);
    expect(state.loads).toBe(2);
    expect([...cache.kept()]).toHaveLength(1);

    state.now += 24 * 3_600_000;
    await cache.renew(10);
    expect(state.loads).toBe(2);
    expect([...cache.kept()]).toEqual([]);
  });

  it('is refreshed after a change that may concern it, in batches, and only until the store fails', async () => {
    const { find, state, put, cache } = aStore();
    cache.keepRows();
    for (const name of ['a', 'b', 'c']) {
      put(name, 1);
      await find(name);
    }
    cache.clear();
    await cache.renew(2);
    expect(state.loads).toBe(5);

    state.failure = gone();
    await cache.renew(2);
    await cache.renew(2);
    expect(state.loads).toBe(6);
    expect([...cache.kept()]).toHaveLength(3);
  });

  it('is stored with what a refresh needs, newest first', async () => {
    const { find, put, cache } = aStore();
    cache.keepRows();
    for (const name of ['a', 'b']) {
      put(name, 1);
      await find(name);
    }
    expect([...cache.kept()].map(({ key, asked }) => [key, asked])).toEqual([
      ['b', 'b'],
      ['a', 'a'],
    ]);
  });
});
