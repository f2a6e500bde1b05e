import { register } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { clockOffsetMs, DatabaseClock } from './database-clock.js';

const HOUR_MS = 3_600_000;
const METRIC = 'gatehouse_clock_offset_seconds';
let clock: DatabaseClock | undefined;
afterEach(() => clock?.stop());

/** Our clock shows `ours`, the database's `theirs`; null while it is unavailable. */
async function compared(ours: number, ...theirs: (number | null)[]): Promise<DatabaseClock> {
  clock = new DatabaseClock(
    {
      query: <Row>() => {
        const answer = theirs.shift();
        return answer === null || answer === undefined
          ? Promise.reject(new Error('unavailable'))
          : Promise.resolve([{ now_ms: answer }] as Row[]);
      },
    },
    () => ours,
  );
  for (let left = theirs.length; left > 0; left--) await clock.measure().catch(() => undefined);
  return clock;
}

const metric = async (): Promise<number | undefined> =>
  (await register.getSingleMetric(METRIC)?.get())?.values[0]?.value;
const verdict = async ({ check }: DatabaseClock): Promise<string> => {
  try {
    await check.run();
    return 'ok';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('the clock of this machine', () => {
  it.each([
    ['ahead by an hour', HOUR_MS, 0, '3600.0 s ahead of', 3_600],
    ['behind by three seconds', 0, 3_000, '3.0 s behind', -3],
  ])('is reported in readiness and metrics when it is %s', async (_, ours, theirs, sentence, seconds) => {
    const found = await compared(ours, theirs);
    expect(await verdict(found)).toContain(sentence);
    expect(await metric()).toBe(seconds);
  });

  it('is right within two seconds', async () => {
    const found = await compared(2_000, 0);
    expect(await verdict(found)).toBe('ok');
    expect(await metric()).toBe(2);
  });

  it('keeps its last offset while the database is unavailable, and drops it when it is right again', async () => {
    const found = await compared(HOUR_MS, 0, null);
    expect(await verdict(found)).toContain('ahead');
    await clock?.stop();
    expect(await verdict(await compared(HOUR_MS, 0, HOUR_MS))).toBe('ok');
  });

  it('has no offset before it was compared', async () => {
    expect(await verdict(await compared(HOUR_MS))).toBe('ok');
    expect(await metric()).toBeUndefined();
  });

  it('is not blamed for a slow response', () => {
    expect(clockOffsetMs(1_500, 1_000, 9_000)).toBe(0);
    expect(clockOffsetMs(5_000, 10_000, 10_001)).toBe(5_000);
    expect(clockOffsetMs(15_000, 10_000, 10_001)).toBe(-4_999);
  });
});
