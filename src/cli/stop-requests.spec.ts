import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StopRequests } from './stop-requests.js';

describe('StopRequests', () => {
  let signals: EventEmitter;
  let stop: StopRequests;
  let hurried: number;

  beforeEach(() => {
    vi.useFakeTimers();
    signals = new EventEmitter();
    stop = new StopRequests(signals as NodeJS.Process);
    hurried = 0;
    stop.onHurry = () => hurried++;
  });
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['SIGTERM', false],
    ['SIGINT', true],
    ['SIGHUP', true],
  ])('%s requests a stop; without the delay for load balancers: %s', async (signal, immediate) => {
    signals.emit(signal);
    await stop.requested();

    expect(stop.signal.aborted).toBe(true);
    expect(stop.immediate).toBe(immediate);
  });

  it('takes the same Ctrl-C from terminal and npm for one', () => {
    signals.emit('SIGINT');
    vi.advanceTimersByTime(50);
    signals.emit('SIGINT');

    expect(hurried).toBe(0);
  });

  it('shuts down faster on a second signal', () => {
    signals.emit('SIGTERM');
    vi.advanceTimersByTime(1_500);
    signals.emit('SIGTERM');

    expect(hurried).toBe(1);
  });
});
