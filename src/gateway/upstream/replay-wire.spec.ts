import { describe, expect, it } from 'vitest';
import { replayWire } from './replay-wire.js';
import type { WireHandler, WireRequest } from './wire.js';

const stored = {
  headers: ['content-type', 'text/event-stream'],
  chunks: ['one', 'two', 'three'].map((text) => Buffer.from(text)),
  storedAt: 0,
  expiresAt: 1,
};

/** A reader that takes this many chunks at a time. */
function played(takes: number) {
  const heard: string[] = [];
  let left = takes;
  let resume = (): void => undefined;
  let abort: (reason?: Error) => void = () => undefined;
  const handler: WireHandler = {
    onConnect: (given) => (abort = given),
    onHeaders: (status, raw, given) => {
      heard.push(`${status} ${raw.map(String).join(': ')}`);
      resume = given;
      return true;
    },
    onUpgrade: () => undefined,
    onData: (chunk) => {
      heard.push(chunk.toString());
      left -= 1;
      return left > 0;
    },
    onComplete: () => heard.push('end'),
    onError: (error) => heard.push(error.message),
  };
  replayWire(stored).dispatch({} as WireRequest, handler);
  const more = (count: number): void => {
    left = count;
    resume();
  };
  return { heard, more, abort: (reason?: Error) => abort(reason) };
}

const HEAD = '200 content-type: text/event-stream';

describe('a stored response on the wire', () => {
  it('comes with its head and in its pieces', () => {
    expect(played(9).heard).toEqual([HEAD, 'one', 'two', 'three', 'end']);
  });

  it('waits for a reader that is slow', () => {
    const { heard, more } = played(1);
    expect(heard).toEqual([HEAD, 'one']);
    more(1);
    expect(heard).toEqual([HEAD, 'one', 'two']);
    more(5);
    expect(heard).toEqual([HEAD, 'one', 'two', 'three', 'end']);
  });

  it('ends at once, and once, when the reader stops', () => {
    const { heard, more, abort } = played(1);
    abort(new Error('left'));
    abort();
    more(5);
    expect(heard).toEqual([HEAD, 'one', 'left']);
  });
});
