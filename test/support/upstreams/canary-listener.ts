import { createServer, type Server, type Socket } from 'node:net';
import { listenOnOneOf, stopListening } from './listen.js';

/**
 * A listener that nobody may ever reach: it stands on a loopback port that the gateway's egress
 * rules do not allow, and counts who came all the same.
 */
export class CanaryListener {
  hits = 0;
  port = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((socket) => {
    this.hits++;
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.resume();
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nCANARY');
  });

  static async start(): Promise<CanaryListener> {
    const listener = new CanaryListener();
    listener.port = await listenOnOneOf(listener.server, [0]);
    return listener;
  }

  stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    return stopListening(this.server);
  }
}
