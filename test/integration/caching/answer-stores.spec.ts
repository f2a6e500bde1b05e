import { randomBytes, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresAnswerStore } from '../../../src/adapters/cached-answers/postgres-answer-store.js';
import { PostgresVectorStore } from '../../../src/adapters/cached-answers/postgres-vector-store.js';
import { RedisAnswerStore } from '../../../src/adapters/cached-answers/redis-answer-store.js';
import { SealedAnswerStore } from '../../../src/adapters/cached-answers/sealed-answer-store.js';
import { SealedVectorStore } from '../../../src/adapters/cached-answers/sealed-vector-store.js';
import { SecretBox } from '../../../src/common/crypto/envelope.js';
import { Secret } from '../../../src/common/settings/secret.js';
import {
  type CachedResponseKey,
  type AnswerStore,
  type KeptVector,
  type VectorNamespace,
} from '../../../src/gateway/ports.js';
import { ForgetAnswers } from '../../../src/jobs/forget-answers.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { OwnRedis } from '../../support/own-redis.js';

const PROMPT = 'data: {"content":"a secret plan"}\n\n';
const MINUTE = 60_000;
const secrets = new SecretBox(new Secret(randomBytes(32).toString('base64')));
const ownRedis = await OwnRedis.start();
const redisUrl = ownRedis?.url;
afterAll(() => ownRedis?.kill());

let database: TestDatabase;
const opened: RedisAnswerStore[] = [];
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(async () => {
  await Promise.all(opened.map((store) => store.onApplicationShutdown()));
  await database.drop();
});

const aPlace = (wishes: Partial<CachedResponseKey> = {}): CachedResponseKey => ({
  organizationId: randomUUID(),
  workspaceId: randomUUID(),
  key: randomBytes(32).toString('hex'),
  ...wishes,
});
const bytes = (text: string, times = 1) => Buffer.from(text.repeat(times));
const inAMinute = () => Date.now() + MINUTE;

const postgres = (): AnswerStore => new PostgresAnswerStore(database.dataSource);
const namespace = `{test-${randomUUID()}}`;
const redis = (bytesMax = 1024 * 1024): AnswerStore => {
  const store = new RedisAnswerStore(new Secret(redisUrl ?? ''), bytesMax, namespace);
  opened.push(store);
  return store;
};
const STORES: [string, () => AnswerStore][] = [['PostgreSQL', postgres]];
if (redisUrl) STORES.push(['Redis', redis]);

describe.each(STORES)('a store of responses in %s', (_name, plain) => {
  const sealed = () => new SealedAnswerStore(plain(), secrets);

  it('gives back what was kept last, byte for byte, to every process', async () => {
    const place = aPlace();
    const answer = randomBytes(100_000);
    await sealed().keep(place, bytes('older'), inAMinute());
    await sealed().keep(place, answer, inAMinute());

    expect(await sealed().find(place)).toEqual(answer);
  });

  it('knows nothing of another workspace, organization or request', async () => {
    const place = aPlace();
    const store = sealed();
    await store.keep(place, bytes(PROMPT), inAMinute());

    for (const other of [
      aPlace(),
      aPlace({ ...place, workspaceId: randomUUID() }),
      aPlace({ ...place, key: '00'.repeat(32) }),
    ])
      expect(await store.find(other)).toBeNull();
  });

  it('does not return expired entries', async () => {
    const place = aPlace();
    const store = sealed();
    await store.keep(place, bytes(PROMPT), Date.now() - 1);

    expect(await store.find(place)).toBeNull();
  });

  it('holds no response in clear text, and a misplaced one or one under another key does not open', async () => {
    const place = aPlace();
    await sealed().keep(place, bytes(PROMPT), inAMinute());
    const raw = await plain().find(place);
    expect(raw?.includes('secret plan')).toBe(false);

    const elsewhere = aPlace({ organizationId: place.organizationId });
    await plain().keep(elsewhere, raw ?? bytes(''), inAMinute());
    expect(await sealed().find(elsewhere)).toBeNull();
    const otherBox = new SecretBox(new Secret(randomBytes(32).toString('base64')));
    expect(await new SealedAnswerStore(plain(), otherBox).find(place)).toBeNull();
  });

  it('does not return part of a response', async () => {
    const place = aPlace();
    await sealed().keep(place, bytes(PROMPT, 100), inAMinute());
    const raw = await plain().find(place);
    await plain().keep(place, (raw ?? bytes('')).subarray(0, -1), inAMinute());

    expect(await sealed().find(place)).toBeNull();
  });

  it('accepts the same response from many at once', async () => {
    const place = aPlace();
    const store = sealed();

    await Promise.all(
      Array.from({ length: 20 }, (_, at) => store.keep(place, bytes(`answer ${at}`), inAMinute())),
    );

    expect(String(await store.find(place))).toMatch(/^answer \d+$/);
  });
});

describe('cached responses in PostgreSQL', () => {
  const count = async (organizationId: string): Promise<number> => {
    const [row] = await database.dataSource.query<{ count: string }[]>(
      'SELECT count(*) FROM cached_answers WHERE organization_id = $1',
      [organizationId],
    );
    return Number(row?.count);
  };

  it('are removed when they have expired', async () => {
    const { organizationId, workspaceId } = aPlace();
    const store = postgres();
    await store.keep(aPlace({ organizationId, workspaceId }), bytes('over'), Date.now() - 1);
    await store.keep(aPlace({ organizationId, workspaceId }), bytes('not over'), inAMinute());

    await new ForgetAnswers(database.dataSource, { cacheStoreBytes: 1024 ** 3 }).sweep();

    expect(await count(organizationId)).toBe(1);
  });

  it('are removed from the oldest on until they are within their bound', async () => {
    await database.dataSource.query('TRUNCATE cached_answers');
    const { organizationId } = aPlace();
    const places = Array.from({ length: 5 }, () => aPlace({ organizationId }));
    const store = postgres();
    for (const place of places) await store.keep(place, randomBytes(100_000), inAMinute());

    await new ForgetAnswers(database.dataSource, { cacheStoreBytes: 250_000 }).sweep();

    const left = await Promise.all(places.map(async (place) => (await store.find(place)) !== null));
    expect(left).toEqual([false, false, false, true, true]);
  });
});

describe('vectors of cached questions in PostgreSQL', () => {
  const plain = () => new PostgresVectorStore(database.dataSource);
  const sealed = () => new SealedVectorStore(plain(), secrets);
  const aNamespace = (wishes: Partial<VectorNamespace> = {}): VectorNamespace => ({
    organizationId: randomUUID(),
    workspaceId: randomUUID(),
    digest: randomBytes(32).toString('hex'),
    ...wishes,
  });
  const aVector = (wishes: Partial<KeptVector> = {}): KeptVector => ({
    key: randomBytes(32).toString('hex'),
    vector: randomBytes(64),
    expiresAt: inAMinute(),
    ...wishes,
  });
  const keysIn = async (namespace: VectorNamespace) =>
    (await sealed().newest(namespace, 100)).map(({ key }) => key);

  it('are returned byte for byte, newest first, each once, and not when they have expired', async () => {
    const namespace = aNamespace();
    const [one, two] = [aVector(), aVector()];
    for (const each of [one, two, aVector({ expiresAt: Date.now() - 1 })])
      await sealed().keep(namespace, each, 100);
    const newer = { ...one, vector: randomBytes(64) };
    await sealed().keep(namespace, newer, 100);

    expect(await sealed().newest(namespace, 100)).toEqual([newer, two]);
    expect(await sealed().newest(namespace, 1)).toEqual([newer]);
  });

  it('are known in no other namespace, workspace or organization', async () => {
    const namespace = aNamespace();
    await sealed().keep(namespace, aVector(), 100);

    for (const other of ['organizationId', 'workspaceId', 'digest'] as const)
      expect(await keysIn({ ...namespace, [other]: aNamespace()[other] })).toEqual([]);
  });

  it('are sealed, and open in no other place, for no other response and under no other key', async () => {
    const namespace = aNamespace();
    const kept = aVector({ vector: bytes('a text can be read out of its vector') });
    await sealed().keep(namespace, kept, 100);
    const [raw] = await plain().newest(namespace, 1);
    expect(raw?.vector.includes('can be read')).toBe(false);
    const stolen = { ...kept, vector: raw?.vector ?? bytes('') };

    const elsewhere = aNamespace({ organizationId: namespace.organizationId });
    await plain().keep(elsewhere, stolen, 100);
    await plain().keep(namespace, { ...stolen, key: randomBytes(32).toString('hex') }, 100);

    expect(await keysIn(elsewhere)).toEqual([]);
    expect(await keysIn(namespace)).toEqual([kept.key]);
    const otherBox = new SecretBox(new Secret(randomBytes(32).toString('base64')));
    expect(await new SealedVectorStore(plain(), otherBox).newest(namespace, 1)).toEqual([]);
  });

  it('of one namespace stay within their bound, also when many writers store at once', async () => {
    const namespace = aNamespace();
    const store = sealed();
    for (let at = 0; at < 6; at++) await store.keep(namespace, aVector(), 5);
    await Promise.all(Array.from({ length: 20 }, () => store.keep(namespace, aVector(), 5)));
    const newest = aVector();
    await store.keep(namespace, newest, 5);
    await store.keep(namespace, newest, 5);

    const keys = await keysIn(namespace);
    expect(keys[0]).toBe(newest.key);
    expect(keys.length).toBeLessThanOrEqual(15);
    await store.keep(namespace, aVector(), 5);
    expect(await keysIn(namespace)).toHaveLength(5);
  });

  it('are removed when they have expired, and oldest first when they exceed the bytes', async () => {
    await database.dataSource.query('TRUNCATE cached_vectors');
    const namespace = aNamespace();
    const vectors = Array.from({ length: 5 }, () => aVector({ vector: randomBytes(10_000) }));
    await sealed().keep(namespace, aVector({ expiresAt: Date.now() - 1 }), 100);
    for (const each of vectors) await sealed().keep(namespace, each, 100);

    await new ForgetAnswers(database.dataSource, { cacheStoreBytes: 8 * 25_000 }).sweep();

    expect(await keysIn(namespace)).toEqual([vectors[4]?.key, vectors[3]?.key]);
    const [row] = await database.dataSource.query<{ count: string }[]>('SELECT count(*) FROM cached_vectors');
    expect(row?.count).toBe('2');
  });
});

describe.skipIf(!redisUrl)('cached responses in Redis', () => {
  it('stay within their bound: the first to expire is evicted, and an oversized one is not stored', async () => {
    const own = `{test-${randomUUID()}}`;
    const store = new RedisAnswerStore(new Secret(redisUrl ?? ''), 250_000, own);
    opened.push(store);
    const places = Array.from({ length: 5 }, () => aPlace());
    for (const [at, place] of places.entries())
      await store.keep(place, randomBytes(100_000), inAMinute() + at * MINUTE);
    const large = aPlace();
    await store.keep(large, randomBytes(250_001), inAMinute());

    const left = await Promise.all(
      [...places, large].map(async (place) => (await store.find(place)) !== null),
    );
    expect(left).toEqual([false, false, false, true, true, false]);
    const redisItself = new Redis(redisUrl ?? '');
    expect(Number(await redisItself.get(`${own}:total`))).toBe(200_000);
    await redisItself.quit();
  });
});

describe.runIf(redisUrl)('a store of responses in a Redis with corrupt bookkeeping', () => {
  const GARBAGE: readonly (readonly [string, (client: Redis, key: string) => Promise<unknown>])[] = [
    ['a text', (client, key) => client.set(key, 'a text')],
    ['a list', (client, key) => client.rpush(key, 'a')],
    ['a hash', (client, key) => client.hset(key, 'a', 'b')],
    ['a set', (client, key) => client.sadd(key, 'a')],
  ];
  const CELLS = ['ends', 'sizes', 'total', 'the answer'].flatMap((book) =>
    GARBAGE.map(([what, write]) => ({ book, what, write })),
  );

  it.each(CELLS)('keeps responses again: $what in $book', async ({ book, write }) => {
    const store = redis(100);
    const place = aPlace();
    const client = new Redis(redisUrl ?? '');
    const key =
      book === 'the answer'
        ? `${namespace}:${place.organizationId}:${place.workspaceId}:${place.key}`
        : `${namespace}:${book}`;
    await client.del(key);
    await write(client, key);
    await client.quit();

    await store.keep(place, bytes('a', 60), inAMinute());
    expect(await store.find(place)).toEqual(bytes('a', 60));
    const next = aPlace();
    await store.keep(next, bytes('b', 60), inAMinute());
    expect([await store.find(place), await store.find(next)]).toEqual([null, bytes('b', 60)]);
  });
});
