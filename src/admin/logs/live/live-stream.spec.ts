import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { LiveStream } from './live-stream.js';

const open: (() => void)[] = [];
afterEach(() => open.splice(0).forEach((close) => close()));

interface ConnectedReader {
  readonly stream: LiveStream;
  readonly response: ServerResponse;
  readonly reader: IncomingMessage;
}

/** A stream over a real connection, whose client has not read anything yet. */
async function connected(): Promise<ConnectedReader> {
  const server: Server = createServer();
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answering = new Promise<ServerResponse>((resolve) => {
    server.once('request', (_, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      resolve(response);
    });
  });
  const reading = new Promise<IncomingMessage>((resolve) => {
    get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }, resolve);
  });
  const [response, reader] = await Promise.all([answering, reading]);
  const options = { response, own: [], conditions: [] };
  return { stream: new LiveStream(options as never), response, reader };
}

const rowsFrom = (first: number, count: number, bytes: number) =>
  Array.from({ length: count }, (_, at) => ({ id: String(first + at), text: 'x'.repeat(bytes) }));

/** Reads until received and dropped rows add up to the number sent. */
async function readAll(reader: IncomingMessage, total: number): Promise<{ ids: string[]; dropped: number }> {
  const ids: string[] = [];
  let dropped = 0;
  let rest = '';
  reader.setEncoding('utf8');
  for await (const chunk of reader) {
    const parts = (rest + String(chunk)).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const [, id] = /^id: (.*)/.exec(part) ?? [];
      if (id !== undefined) ids.push(id);
      dropped += Number(/^event: dropped\ndata: \{"count":(\d+)\}/.exec(part)?.[1] ?? 0);
    }
    if (ids.length + dropped >= total) break;
  }
  return { ids, dropped };
}

describe('a reader of new requests', () => {
  it('receives a burst whole, though it exceeds the high-water mark of the response', async () => {
    const { stream, response, reader } = await connected();
    stream.send(rowsFrom(0, 300, 1_500), 0);
    expect(response.writableNeedDrain).toBe(true);
    stream.send(rowsFrom(300, 100, 1_500), 0);

    const { ids, dropped } = await readAll(reader, 400);
    expect([ids, dropped]).toEqual([rowsFrom(0, 400, 0).map(({ id }) => id), 0]);
  });

  it('that has stopped costs a bounded amount of memory, and learns what it missed without another request', async () => {
    const { stream, response, reader } = await connected();
    const most = 2_000;
    for (let first = 0; first < most; first += 100) {
      stream.send(rowsFrom(first, 100, 20_000), 0);
      // Lets sockets drain before more is sent.
      await new Promise((resolve) => setImmediate(resolve));
      expect(response.writableLength).toBeLessThan(1_100_000);
    }
    stream.send([], 7);

    const { ids, dropped } = await readAll(reader, most + 7);
    expect(ids.length + dropped).toBe(most + 7);
    expect(dropped).toBeGreaterThan(7);
    expect(ids).toEqual([...ids].sort((one, other) => Number(one) - Number(other)));
  });

  it('receives matching rows at once that were not read yet', async () => {
    const { stream, reader } = await connected();
    stream.send(rowsFrom(0, 2, 10), 3);

    expect(await readAll(reader, 5)).toEqual({ ids: ['0', '1'], dropped: 3 });
  });
});
