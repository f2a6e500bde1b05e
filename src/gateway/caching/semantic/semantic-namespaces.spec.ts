import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MemoryVectorStore } from '../../../../test/support/memory-vector-store.js';
import type { VectorNamespace } from '../../ports.js';
import { type CachedPrompt, QUESTIONS_MAX, SemanticNamespaces } from './semantic-namespaces.js';
import { type Vector, vectorOf } from './vector.js';

const key = () => randomBytes(32).toString('hex');
const aRoom = (): VectorNamespace => ({ organizationId: 'o', workspaceId: 'w', digest: key() });
const aQuestion = (wishes: Partial<CachedPrompt> = {}): CachedPrompt => ({
  key: key(),
  vector: vectorOf([1, 0.5, 0]) as Vector,
  expiresAt: Date.now() + 60_000,
  ...wishes,
});
const keysIn = async (rooms: SemanticNamespaces, room: VectorNamespace) =>
  (await rooms.questionsIn(room)).map((question) => question.key);
const landed = () => new Promise(setImmediate);

afterEach(() => {
  vi.useRealTimers();
});

describe('Semantic namespaces', () => {
  it('know what was kept, the newest first, and each question once', async () => {
    const rooms = new SemanticNamespaces(null);
    const room = aRoom();
    const [one, two] = [aQuestion(), aQuestion()];
    for (const question of [one, two, { ...one }]) rooms.keep(room, question);

    expect(await keysIn(rooms, room)).toEqual([one.key, two.key]);
    expect(await keysIn(rooms, aRoom())).toEqual([]);
  });

  it('see what another process stored, and load it once in 20 seconds', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    const store = new MemoryVectorStore();
    const [mine, theirs] = [new SemanticNamespaces(store), new SemanticNamespaces(store)];
    const room = aRoom();
    const [one, two] = [aQuestion(), aQuestion()];
    theirs.keep(room, one);
    await landed();

    expect(await Promise.all([keysIn(mine, room), keysIn(mine, room)])).toEqual([[one.key], [one.key]]);
    theirs.keep(room, two);
    await landed();
    expect(await keysIn(mine, room)).toEqual([one.key]);
    expect(store.lookups).toBe(1);
    vi.setSystemTime(Date.now() + 20_001);
    expect(await keysIn(mine, room)).toEqual([two.key, one.key]);
  });

  it('read a namespace in the store even when they hold a prompt of their own', async () => {
    const store = new MemoryVectorStore();
    const room = aRoom();
    const [theirs, mine] = [aQuestion(), aQuestion()];
    new SemanticNamespaces(store).keep(room, theirs);
    await landed();
    const rooms = new SemanticNamespaces(store);
    rooms.keep(room, mine);
    await landed();

    expect(await keysIn(rooms, room)).toEqual([mine.key, theirs.key]);
  });

  it('use what they hold while the store is unavailable', async () => {
    const store = new MemoryVectorStore();
    const rooms = new SemanticNamespaces(store);
    const room = aRoom();
    const question = aQuestion();
    rooms.keep(room, question);
    await landed();
    store.state = 'away';

    expect(await keysIn(rooms, room)).toEqual([question.key]);
    expect(await keysIn(rooms, room)).toEqual([question.key]);
    expect(store.lookups).toBe(1);
  });

  it('bound the prompts per namespace and the bytes overall, and evict the least recently used', async () => {
    const rooms = new SemanticNamespaces(null, 10_000);
    const [first, second, third] = [aRoom(), aRoom(), aRoom()];
    const fill = (room: VectorNamespace, count: number) => {
      for (let at = 0; at < count; at++) rooms.keep(room, aQuestion());
    };
    fill(first, 12);
    fill(second, 12);
    await rooms.questionsIn(first);
    fill(third, 12);

    expect(rooms.bytes).toBeLessThanOrEqual(10_000);
    expect(await keysIn(rooms, first)).toHaveLength(12);
    expect(await keysIn(rooms, second)).toEqual([]);

    const large = new SemanticNamespaces(null);
    for (let at = 0; at < QUESTIONS_MAX + 5; at++) large.keep(first, aQuestion());
    expect(await keysIn(large, first)).toHaveLength(QUESTIONS_MAX);
  });
});
