import { createServer, request, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

/** Passes requests on to the gateway unchanged, and notes when those to models were answered. */
export class Tap {
  /** Milliseconds on the clock of `performance`. */
  private readonly answeredAt: number[] = [];

  private constructor(
    private readonly server: Server,
    private readonly gateway: URL,
  ) {}

  static async start(gateway: string): Promise<Tap> {
    const server = createServer();
    const tap = new Tap(server, new URL(gateway));
    server.on('request', (incoming, outgoing) => {
      const { method, url, rawHeaders: headers } = incoming;
      const onward = request(
        { host: tap.gateway.hostname, port: tap.gateway.port, method, path: url, headers },
        (answer) => {
          if (method === 'POST') tap.answeredAt.push(performance.now());
          outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
          answer.pipe(outgoing);
        },
      );
      onward.on('error', () => outgoing.destroy());
      outgoing.on('close', () => onward.destroy());
      incoming.pipe(onward);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return tap;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get requests(): number {
    return this.answeredAt.length;
  }

  get secondsSinceFirst(): number {
    return secondsSince(this.answeredAt[0]);
  }

  get secondsSinceLast(): number {
    return secondsSince(this.answeredAt.at(-1));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

const secondsSince = (time = performance.now()): number => (performance.now() - time) / 1000;
