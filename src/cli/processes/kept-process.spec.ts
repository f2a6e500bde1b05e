import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { KeptProcess } from './kept-process.js';

describe('KeptProcess', () => {
  it('starts another where one ended', async () => {
    const { kept, spawned } = aProcess();
    kept.start();

    spawned[0]?.emit('exit', null, 'SIGKILL');

    await vi.waitFor(() => expect(spawned).toHaveLength(2), { timeout: 10_000 });
    expect(kept.restarts).toBe(1);
  });

  it('starts and counts none when the shutdown arrives just after the process ended from it', async () => {
    const { kept, spawned } = aProcess();
    kept.start();

    spawned[0]?.emit('exit', null, 'SIGTERM');
    await new Promise(setImmediate);
    kept.letEnd();
    await sleep(300);

    expect(spawned).toHaveLength(1);
    expect(kept.restarts).toBe(0);
  });
});

function aProcess() {
  const spawned: EventEmitter[] = [];
  const kept = new KeptProcess({
    name: 'worker',
    place: 0,
    spawn: () => {
      const child = new EventEmitter();
      spawned.push(child);
      return child as ChildProcess;
    },
    onMessage: () => undefined,
    onLost: (error) => {
      throw error;
    },
  });
  return { kept, spawned };
}
