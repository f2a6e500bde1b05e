import { type AddressInfo, type Socket, createServer } from 'node:net';

/** The part of Redis that the change bus speaks, where no real one is at hand. Not a judge of Redis itself. */
export interface FakeRedis {
  readonly url: string;
  dropConnections(): void;
  /** Stops delivering to the connections that exist now, without closing them: a half-dead network. */
  mute(): void;
  close(): Promise<void>;
}

const bulk = (text: string) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
const array = (...items: string[]) => `*${items.length}\r\n${items.join('')}`;

export async function startFakeRedis(): Promise<FakeRedis> {
  const sockets = new Set<Socket>();
  const muted = new WeakSet<Socket>();
  const subscribers = new Map<string, Set<Socket>>();

  const publish = (channel: string, message: string): string => {
    const listening = [...(subscribers.get(channel) ?? [])];
    for (const socket of listening)
      if (!muted.has(socket)) socket.write(array(bulk('message'), bulk(channel), bulk(message)));
    return `:${listening.length}\r\n`;
  };

  const answer = (socket: Socket, [name = '', first = '', second = '']: readonly string[]): string => {
    switch (name.toLowerCase()) {
      case 'publish':
        return publish(first, second);
      case 'subscribe':
        subscribers.set(first, (subscribers.get(first) ?? new Set()).add(socket));
        return array(bulk('subscribe'), bulk(first), ':1\r\n');
      case 'info':
        return bulk('redis_version:7.0.0\r\nloading:0\r\n');
      default:
        return '+OK\r\n';
    }
  };

  const server = createServer((socket) => {
    sockets.add(socket);
    let pending = '';
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      for (const listening of subscribers.values()) listening.delete(socket);
    });
    socket.on('data', (bytes) => {
      const { commands, rest } = readCommands(pending + bytes.toString());
      pending = rest;
      for (const command of commands) socket.write(answer(socket, command));
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));

  const dropConnections = () => sockets.forEach((socket) => socket.resetAndDestroy());
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dropConnections,
    mute: () => sockets.forEach((socket) => muted.add(socket)),
    close: () => {
      dropConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

/** Whole commands of a RESP stream (https://redis.io/docs/latest/develop/reference/protocol-spec/), and what is left over. */
function readCommands(text: string): { commands: string[][]; rest: string } {
  const commands: string[][] = [];
  let rest = text;
  for (;;) {
    const lines = rest.split('\r\n');
    const count = Number(lines[0]?.slice(1));
    if (!lines[0]?.startsWith('*') || lines.length <= count * 2 + 1) return { commands, rest };
    commands.push(Array.from({ length: count }, (_, i) => lines[i * 2 + 2] ?? ''));
    rest = lines.slice(count * 2 + 1).join('\r\n');
  }
}
