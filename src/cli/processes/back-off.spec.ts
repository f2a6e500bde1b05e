import { describe, expect, it } from 'vitest';
import { BackOff } from './back-off.js';

describe('BackOff', () => {
  it('waits 100 ms, then twice as long each time, and never longer than 5 s', () => {
    const backOff = new BackOff(() => 0);
    backOff.started();

    expect(Array.from({ length: 9 }, () => backOff.next())).toEqual([
      100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000,
    ]);
  });

  it('starts over after 30 s of uptime', () => {
    let now = 0;
    const backOff = new BackOff(() => now);
    backOff.started();
    backOff.next();
    backOff.next();
    now = 29_999;
    expect(backOff.next()).toBe(400);
    now = 30_000;
    expect(backOff.next()).toBe(100);
  });
});
