import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenOnOneOf, stopListening } from './upstreams/listen.js';

/** `refuse` closes every connection at once; `blackhole` keeps them open and lets nothing through. */
export type ProxyMode = 'pass' | 'refuse' | 'blackhole';

/** Stands between the service and a store, and takes the store away without touching it. */
export class TcpProxy {
  port = 0;
  #mode: ProxyMode = 'pass';
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(target: { readonly host: string; readonly port: number }) {
    this.#server = createServer((near) => {
      this.#keep(near);
      if (this.#mode === 'refuse') return void near.resetAndDestroy();
      if (this.#mode === 'blackhole') return void near.on('data', () => undefined);
      const far = connect(target.port, target.host);
      this.#keep(far);
      this.#join(near, far);
      this.#join(far, near);
    });
  }

  static async start(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.port = await listenOnOneOf(proxy.#server, [0]);
    return proxy;
  }

  /** Changes what happens to new connections, and with `refuse` also ends those that stand. */
  set mode(mode: ProxyMode) {
    this.#mode = mode;
    if (mode === 'refuse') for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await stopListening(this.#server);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #join(from: Socket, to: Socket): void {
    from.on('data', (part: Buffer) => {
      if (this.#mode === 'blackhole') return;
      if (!to.write(part)) {
        from.pause();
        to.once('drain', () => from.resume());
      }
    });
    from.once('end', () => to.end());
    from.once('close', () => to.destroy());
  }
}
