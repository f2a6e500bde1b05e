import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

const EVERY_MS = 10;

/**
 * The milliseconds of the slowest PING while the work runs. A processor that is shared with others delays Redis, or
 * the processes that wait for it, just as a fault would; this figure tells a late Redis from a defect of the limits.
 */
export async function slowestPing(redisUrl: string, work: () => Promise<void>): Promise<number> {
  const redis = new Redis(redisUrl);
  let slowestMs = 0;
  let isOver = false;
  const observing = (async () => {
    while (!isOver) {
      const began = performance.now();
      await redis.ping();
      await sleep(EVERY_MS);
      slowestMs = Math.max(slowestMs, performance.now() - began - EVERY_MS);
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await observing.finally(() => {
      redis.disconnect();
    });
  }
  return slowestMs;
}
