import { describe, expect, it } from 'vitest';
import { AppError } from '../../common/errors/app-error.js';
import { followingWire } from './following-wire.js';
import type { Wire, WireHandler, WireRequest } from './wire.js';

const REQUEST: WireRequest = {
  method: 'GET',
  path: '/batches/b',
  headers: ['a', 'b', 'Accept-Encoding', 'gzip', 'range', 'bytes=0-9'],
  body: null,
};

interface ScriptedReply {
  readonly status: number;
  readonly chunks: readonly string[];
  readonly error?: Error;
}

/** A wire that plays responses in turn, with its requests and the events that its handler received. */
function played(...answers: readonly ScriptedReply[]) {
  const asked: WireRequest[] = [];
  const heard: unknown[] = [];
  const wire: Wire = {
    dispatch: (request, handler) => {
      const { status, chunks, error } = answers[asked.length] ?? { status: 500, chunks: [] };
      asked.push(request);
      handler.onConnect(() => undefined);
      handler.onHeaders(status, [], () => undefined, '');
      for (const chunk of chunks) handler.onData(Buffer.from(chunk));
      if (error) handler.onError(error);
      else handler.onComplete();
    },
  };
  const handler: WireHandler = {
    onConnect: () => heard.push('connect'),
    onHeaders: (status) => heard.push(status) > 0,
    onUpgrade: () => undefined,
    onData: (chunk) => heard.push(chunk.toString()) > 0,
    onComplete: () => heard.push('end'),
    onError: (error) => heard.push(error instanceof AppError ? error.code : error.message),
  };
  const next = ({ output }: Readonly<Record<string, unknown>>): string => {
    if (typeof output !== 'string') throw new AppError('conflict', { detail: 'none' });
    return `/files/${output}`;
  };
  followingWire(wire, next).dispatch(REQUEST, handler);
  return { asked, heard };
}

describe('a request that follows another', () => {
  it('follows the first response with everything the first request had, and only its response is used', () => {
    const { asked, heard } = played(
      { status: 200, chunks: ['{"out', 'put":"f1"}'] },
      { status: 200, chunks: ['line 1\n', 'line 2\n'] },
    );
    const plain = { ...REQUEST, headers: ['accept-encoding', 'identity', 'a', 'b'] };
    expect(asked).toEqual([plain, { ...REQUEST, path: '/files/f1' }]);
    expect(heard).toEqual(['connect', 'connect', 200, 'line 1\n', 'line 2\n', 'end']);
  });

  it('is not sent when the first is refused, which is passed on unchanged', () => {
    const { asked, heard } = played({ status: 404, chunks: ['{"error":', '{}}'] });
    expect(asked).toHaveLength(1);
    expect(heard).toEqual(['connect', 404, '{"error":', '{}}', 'end']);
  });

  it.each([
    ['there is nothing to follow', ['{}'], 'conflict'],
    ['the first answer is no object', ['[]'], 'upstream_protocol_error'],
    ['the first answer is endless', ['{"a":"', 'x'.repeat(2_000_000), '"}'], 'upstream_protocol_error'],
  ])('is not sent where %s', (_, chunks, code) => {
    const { asked, heard } = played({ status: 200, chunks });
    expect(asked).toHaveLength(1);
    expect(heard).toEqual(['connect', code]);
  });

  it('is not sent where the first breaks off', () => {
    const { asked, heard } = played({ status: 200, chunks: ['{'], error: new Error('reset') });
    expect([asked.length, heard]).toEqual([1, ['connect', 'reset']]);
  });
});
