import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchLogs } from './live-stream';

class FakeSource extends EventTarget {
  isClosed = false;
  close(): void {
    this.isClosed = true;
  }
  tell(name: string, data?: object): void {
    const event = Object.assign(new Event(name), { data: JSON.stringify(data) });
    this.dispatchEvent(event);
  }
}

const sources: FakeSource[] = [];
const heard: unknown[] = [];
const watch = () =>
  watchLogs(
    '/v1/logs/stream',
    {
      onPhase: (phase) => heard.push(phase),
      onNew: () => heard.push('new'),
      onDropped: (count) => heard.push(count),
    },
    () => {
      const source = new FakeSource();
      sources.push(source);
      return source as unknown as EventSource;
    },
  );
const newest = (): FakeSource => sources.at(-1) as FakeSource;

beforeEach(() => {
  vi.useFakeTimers();
  sources.length = 0;
  heard.length = 0;
});
afterEach(() => vi.useRealTimers());

describe('the stream of new requests', () => {
  it('reports new requests, and how many were dropped', () => {
    watch();
    newest().tell('open');
    newest().tell('log', { id: 'a' });
    newest().tell('dropped', { count: 12 });
    expect(heard).toEqual(['connected', 'new', 'new', 12]);
  });

  it('is connected again after the server shuts down, and reads what it missed', () => {
    watch();
    newest().tell('open');
    newest().tell('end', { reason: 'shutdown' });
    expect(newest().isClosed).toBe(true);
    vi.advanceTimersByTime(1_000);
    expect(sources).toHaveLength(2);
    newest().tell('open');
    expect(heard).toEqual(['connected', 'new', 'interrupted', 'connected', 'new']);
  });

  it('waits longer after each failure, and as short as at first after a success', () => {
    watch();
    newest().tell('error');
    vi.advanceTimersByTime(1_000);
    newest().tell('error');
    vi.advanceTimersByTime(1_999);
    expect(sources).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(sources).toHaveLength(3);
    newest().tell('open');
    newest().tell('error');
    vi.advanceTimersByTime(1_000);
    expect(sources).toHaveLength(4);
  });

  it('closes for good when the user loses permission to watch, or leaves', () => {
    const stop = watch();
    newest().tell('end', { reason: 'key_revoked' });
    vi.advanceTimersByTime(60_000);
    expect([sources.length, heard.at(-1)]).toEqual([1, 'ended']);

    newest().tell('error');
    stop();
    vi.advanceTimersByTime(60_000);
    expect(sources).toHaveLength(1);
  });
});
