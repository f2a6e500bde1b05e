import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenOnOneOf, stopListening } from './upstreams/listen.js';

/**
 * What happens to connections. Each fault but `pass` and `slow` also hits those that are established:
 *
 * - `refuse`: every connection is reset at once
 * - `blackhole`: a connection stays open and carries nothing more, even after the fault, as behind a failover or a firewall that
 *   lost its state; new ones are accepted and never answered
 * - `halfopen`: new connections are accepted and never answered; established ones work
 * - `reset`: a connection is reset at its next byte
 * - `slow`: every part is delayed
 * - `cut`: a connection is reset in the middle of the next answer
 */
export type ProxyMode = 'pass' | 'refuse' | 'blackhole' | 'halfopen' | 'reset' | 'slow' | 'cut';

const SLOW_MS = 100;

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  isLost: boolean;
}

/** Stands between the service and a store, and takes the store away without touching it. */
export class TcpProxy {
  port = 0;
  /** Connections accepted since the start. */
  accepted = 0;
  private currentMode: ProxyMode = 'pass';
  private readonly sockets = new Set<Socket>();
  private readonly pairs = new Set<Pair>();
  private readonly server: Server;

  private constructor(target: { readonly host: string; readonly port: number }) {
    this.server = createServer((near) => {
      this.accepted += 1;
      this.keep(near);
      if (this.currentMode === 'refuse') return void near.resetAndDestroy();
      if (this.currentMode === 'halfopen' || this.currentMode === 'blackhole') return void near.resume();
      const far = connect(target.port, target.host);
      this.keep(far);
      const pair = { near, far, isLost: false };
      this.pairs.add(pair);
      near.once('close', () => this.pairs.delete(pair));
      this.join(pair, near, far);
      this.join(pair, far, near);
    });
  }

  static async start(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.port = await listenOnOneOf(proxy.server, [0]);
    return proxy;
  }

  /** A proxy in front of the server of this URL, and the URL that leads through it. */
  static async before(url: string): Promise<{ readonly proxy: TcpProxy; readonly url: string }> {
    const through = new URL(url);
    const proxy = await TcpProxy.start({ host: through.hostname, port: Number(through.port) });
    through.host = `127.0.0.1:${proxy.port}`;
    return { proxy, url: through.href };
  }

  set mode(mode: ProxyMode) {
    this.currentMode = mode;
    if (mode === 'refuse') for (const socket of this.sockets) socket.resetAndDestroy();
    if (mode === 'blackhole') for (const pair of this.pairs) pair.isLost = true;
  }

  get mode(): ProxyMode {
    return this.currentMode;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await stopListening(this.server);
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.sockets.delete(socket));
  }

  private join(pair: Pair, from: Socket, to: Socket): void {
    from.on('data', (part: Buffer) => {
      if (pair.isLost) return;
      if (this.currentMode === 'reset') return this.break(pair);
      if (this.currentMode === 'cut' && from === pair.far) {
        to.write(part.subarray(0, part.length >> 1), () => this.break(pair));
        return;
      }
      if (this.currentMode === 'slow') return this.delay(from, to, part);
      if (!to.write(part)) {
        from.pause();
        to.once('drain', () => from.resume());
      }
    });
    // A lost connection passes on neither its end nor its reset.
    from.once('end', () => pair.isLost || to.end());
    from.once('close', () => pair.isLost || to.destroy());
  }

  private delay(from: Socket, to: Socket, part: Buffer): void {
    from.pause();
    setTimeout(() => {
      if (!to.destroyed) to.write(part);
      from.resume();
    }, SLOW_MS).unref();
  }

  private break({ near, far }: Pair): void {
    near.resetAndDestroy();
    far.destroy();
  }
}
