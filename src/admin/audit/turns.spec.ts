import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Turns } from './turns.js';

/** Work that says when it began, and ends when it is told to. */
function works() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () =>
    new Promise<string>((resolve) => {
      begun.push(name);
      ends.set(name, () => resolve(name));
    });
  return { begun, work, end: (name: string) => ends.get(name)?.() };
}

describe('Turns', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => vi.useRealTimers());

  it('runs work of one name in the order in which it came, and of another beside it', async () => {
    const turns = new Turns(1_000);
    const { begun, work, end } = works();
    const [first, second] = [turns.take('a', work('first')), turns.take('a', work('second'))];
    const other = turns.take('b', work('other'));
    expect(begun).toEqual(['first', 'other']);

    end('first');
    expect(await first).toBe('first');
    await vi.waitFor(() => expect(begun).toEqual(['first', 'other', 'second']));
    end('second');
    end('other');
    expect(await Promise.all([second, other])).toEqual(['second', 'other']);
  });

  it('goes on behind work that fails', async () => {
    const turns = new Turns(1_000);
    const failed = turns.take('a', () => Promise.reject(new Error('no')));
    const second = turns.take('a', () => Promise.resolve('done'));

    await expect(failed).rejects.toThrow('no');
    expect(await second).toBe('done');
  });

  it('refuses who waited for longer than its patience, and takes who came later', async () => {
    const turns = new Turns(1_000);
    const { begun, work, end } = works();
    void turns.take('a', work('first'));
    const second = turns.take('a', work('second'));
    vi.advanceTimersByTime(900);
    const third = turns.take('a', work('third'));
    vi.advanceTimersByTime(200);
    end('first');

    await expect(second).rejects.toThrow('too late');
    await vi.waitFor(() => expect(begun).toEqual(['first', 'third']));
    end('third');
    expect(await third).toBe('third');
  });

  it('remembers nobody when all are through', async () => {
    const turns = new Turns(1_000);
    await Promise.all([turns.take('a', () => Promise.resolve()), turns.take('a', () => Promise.resolve())]);
    await Promise.resolve();

    expect(turns).toHaveProperty('last.size', 0);
  });
});
