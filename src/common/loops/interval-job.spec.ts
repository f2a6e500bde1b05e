import { register } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Logger } from '../observability/logger.js';
import { IntervalJob, type IntervalJobOptions, type Round } from './interval-job.js';
import { stalledLoops } from './loop-health.js';

const NAME = 'job-under-test';
const lines: string[] = [];
const say = (_fields: object, line: string): void => void lines.push(line);
const logger = { warn: say, info: say } as unknown as Logger;
const jobs: IntervalJob[] = [];

function aJob(work: (round: Round) => Promise<unknown>, options: Partial<IntervalJobOptions> = {}) {
  const job = new IntervalJob(work, {
    name: NAME,
    everyMs: 1_000,
    logger,
    failure: 'the work failed',
    ...options,
  });
  jobs.push(job);
  return job;
}

async function metric(name: string): Promise<number | undefined> {
  const found = await register.getSingleMetric(name)?.get();
  return found?.values.find(({ labels }) => labels['loop'] === NAME)?.value;
}
const age = () => metric('gatehouse_loop_last_success_age_seconds');
const failures = async () => (await metric('gatehouse_loop_failures_total')) ?? 0;
const isStalled = () => stalledLoops().some(({ loop }) => loop === NAME);
const never = () => new Promise<never>(() => undefined);

describe('IntervalJob', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance', 'Date'] });
    lines.length = 0;
  });
  afterEach(async () => {
    const stopped = Promise.all(jobs.splice(0).map((job) => job.stop()));
    await vi.advanceTimersByTimeAsync(10_000);
    await stopped;
    vi.useRealTimers();
  });

  it('runs its work once an interval, counted from the beginning of a round, and never twice at a time', async () => {
    const begins: number[] = [];
    const job = aJob(async () => {
      begins.push(performance.now());
      await new Promise((resolve) => setTimeout(resolve, begins.length === 2 ? 1_500 : 400));
    });
    const began = performance.now();
    job.start();
    await vi.advanceTimersByTimeAsync(4_600);

    expect(begins.map((at) => Math.round((at - began) / 10) * 10)).toEqual([1_000, 2_000, 3_500, 4_500]);
  });

  it('joins the running round when another is requested', async () => {
    let rounds = 0;
    const job = aJob(async () => {
      rounds += 1;
      await new Promise((resolve) => setTimeout(resolve, 100));
    });
    const both = Promise.all([job.round(), job.round()]);
    await vi.advanceTimersByTimeAsync(100);
    await both;

    expect(rounds).toBe(1);
  });

  it('does not rest while its work says that there is more', async () => {
    const begins: number[] = [];
    const job = aJob(async () => begins.push(performance.now()) < 4);
    job.start();
    await vi.advanceTimersByTimeAsync(1_500);

    expect(begins).toHaveLength(4);
    expect((begins[3] ?? 0) - (begins[0] ?? 0)).toBeLessThan(10);
  });

  it('continues after failures with a doubling pause, counts them, and reports the recovery', async () => {
    const begins: number[] = [];
    const before = await failures();
    const job = aJob(async () => {
      begins.push(performance.now());
      if (begins.length <= 5) throw new Error('no');
    });
    job.start();
    await vi.advanceTimersByTimeAsync(20_000);

    const pauses = begins.slice(1, 7).map((at, index) => Math.round(at - (begins[index] ?? 0)));
    expect(pauses).toEqual([1_000, 2_000, 4_000, 5_000, 5_000, 1_000]);
    expect((await failures()) - before).toBe(5);
    expect(lines).toEqual(['the work failed', 'A background loop succeeds again.']);
  });

  it('tries an hourly job again within a minute after a failure', async () => {
    let rounds = 0;
    const job = aJob(
      () => {
        rounds += 1;
        throw new Error('thrown before there was a promise');
      },
      { everyMs: 3_600_000 },
    );
    job.start();
    await job.round();
    await vi.advanceTimersByTimeAsync(3_600_000 + 600_000);

    expect(rounds).toBeGreaterThan(12);
    expect(rounds).toBeLessThan(20);
  });

  it('is stalled after its bound without success, and its age grows without reads', async () => {
    const job = aJob(
      async () => {
        throw new Error('no');
      },
      { boundMs: 30_000 },
    );
    job.start();
    await vi.advanceTimersByTimeAsync(29_000);
    expect(isStalled()).toBe(false);
    await vi.advanceTimersByTimeAsync(2_000);

    expect(stalledLoops().filter(({ loop }) => loop === NAME)).toEqual([{ loop: NAME, seconds: 31 }]);
    expect(await age()).toBeCloseTo(31, 0);
  });

  it('aborts a round that hangs, and begins another', async () => {
    const rounds: Round[] = [];
    const job = aJob(
      (round) => {
        rounds.push(round);
        return rounds.length === 1 ? never() : Promise.resolve();
      },
      { boundMs: 30_000 },
    );
    job.start();
    await vi.advanceTimersByTimeAsync(30_500);
    expect(rounds).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(3_000);

    expect(rounds.length).toBeGreaterThan(1);
    expect(rounds[0]?.hasEnded).toBe(true);
    expect(isStalled()).toBe(false);
  });

  it('does not abandon a long round that makes progress, and does not count it as stalled', async () => {
    let steps = 0;
    const job = aJob(
      async (round) => {
        for (; steps < 20; steps++) {
          await new Promise((resolve) => setTimeout(resolve, 10_000));
          round.progressed();
          expect(round.hasEnded).toBe(false);
        }
      },
      { boundMs: 30_000 },
    );
    job.start();
    await vi.advanceTimersByTimeAsync(201_000);

    expect(steps).toBe(20);
    expect(isStalled()).toBe(false);
    expect(lines).toEqual([]);
  });

  it('ends its round when it is stopped, begins no other, and leaves the metrics', async () => {
    let isLeft = false;
    const job = aJob(async (round) => {
      while (!round.hasEnded) await new Promise((resolve) => setTimeout(resolve, 10));
      isLeft = true;
    });
    job.start();
    await vi.advanceTimersByTimeAsync(1_100);
    expect(await age()).toBeDefined();
    const stopped = job.stop();
    await vi.advanceTimersByTimeAsync(20);
    await stopped;
    await vi.advanceTimersByTimeAsync(60_000);

    expect(isLeft).toBe(true);
    expect(await age()).toBeUndefined();
    expect(isStalled()).toBe(false);
  });

  it('stops within ten seconds although its round hangs', async () => {
    const job = aJob(never);
    job.start();
    await vi.advanceTimersByTimeAsync(1_100);
    let isStopped = false;
    void job.stop().then(() => (isStopped = true));
    await vi.advanceTimersByTimeAsync(10_100);

    expect(isStopped).toBe(true);
  });

  it('ends the process when not even the failure can be reported', async () => {
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
    const warn = (): never => {
      throw new Error('standard output is closed');
    };
    const job = aJob(() => Promise.reject(new Error('no')), { logger: { warn } as unknown as Logger });
    job.start();
    await vi.advanceTimersByTimeAsync(1_000);

    expect(exit).toHaveBeenCalledExactlyOnceWith(1);
    exit.mockRestore();
  });
});
