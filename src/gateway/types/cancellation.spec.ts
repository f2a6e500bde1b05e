import { createServer, type IncomingMessage, request, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ClientSignal } from './cancellation.js';

let server: Server;
afterEach(() => void server.close());

async function listening(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<number> {
  server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

describe('the signal of a client', () => {
  it('is cancelled when the client disconnects, and calls each listener once', async () => {
    const events: string[] = [];
    const port = await listening((received, response) => {
      const signal = new ClientSignal(received, response);
      const removed = (): number => events.push('removed');
      signal.onCancel(() => {
        events.push(`early ${String(signal.isCancelled)}`);
        signal.onCancel(() => events.push('late'));
      });
      signal.onCancel(removed);
      signal.offCancel(removed);
      events.push(`at first ${String(signal.isCancelled)}`);
      client.destroy();
    });
    const client = request({ port, host: '127.0.0.1' }).on('error', () => undefined);
    client.end();

    await expect.poll(() => events).toEqual(['at first false', 'early true', 'late']);
  });

  it('is cancelled when the response is complete', async () => {
    const signals: ClientSignal[] = [];
    const port = await listening((received, response) => {
      signals.push(new ClientSignal(received, response));
      response.end('whole');
    });

    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('whole');

    await expect.poll(() => signals.map(({ isCancelled }) => isCancelled)).toEqual([true]);
  });

  it('is cancelled when a WebSocket closes that was accepted', async () => {
    const events: string[] = [];
    const port = await listening(() => undefined);
    server.on('upgrade', (received: IncomingMessage, socket: Socket) => {
      const response = new ServerResponse(received);
      response.assignSocket(socket);
      new ClientSignal(received, socket).onCancel(() => events.push('closed'));
      response.writeHead(101).flushHeaders();
      response.detachSocket(socket);
      socket.once('end', () => socket.end()).resume();
      events.push('accepted');
    });
    const client = connect(port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
    await expect.poll(() => events).toEqual(['accepted']);

    client.destroy();

    await expect.poll(() => events).toEqual(['accepted', 'closed']);
  });
});
