import { describe, expect, it, vi } from 'vitest';
import { whenPolled } from './after-poll.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('what waits for the news of a turn', () => {
  it('is called in its order, once, and what comes meanwhile in the next turn', async () => {
    const called: string[] = [];
    whenPolled({
      afterPoll: () => {
        called.push('first');
        whenPolled({ afterPoll: () => called.push('later') });
      },
    });
    whenPolled({ afterPoll: () => called.push('second') });
    expect(called).toEqual([]);
    await turn();
    expect(called).toEqual(['first', 'second']);
    await turn();
    await turn();
    expect(called).toEqual(['first', 'second', 'later']);
  });

  it('is called though one before it throws', async () => {
    const called: string[] = [];
    const thrown = vi.fn();
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').once('uncaughtException', thrown);
    try {
      whenPolled({
        afterPoll: () => {
          throw new Error('odd');
        },
      });
      whenPolled({ afterPoll: () => called.push('second') });
      await turn();
      await turn();
      await turn();
    } finally {
      process.removeAllListeners('uncaughtException');
      for (const other of others) process.on('uncaughtException', other);
    }
    expect(thrown).toHaveBeenCalledOnce();
    expect(called).toEqual(['second']);
  });
});
