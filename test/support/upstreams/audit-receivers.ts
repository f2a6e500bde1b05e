import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { LOCALHOST_CERTIFICATE, LOCALHOST_KEY } from './localhost-certificate.js';

export interface Delivery {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

/** A webhook that answers 200, unless it was told to do something else the next times. */
export class WebhookReceiver {
  readonly deliveries: Delivery[] = [];
  readonly next: Behaviour[] = [];

  private constructor(private readonly server: ReturnType<typeof createServer>) {}

  static async start(): Promise<WebhookReceiver> {
    const server = createServer();
    const receiver = new WebhookReceiver(server);
    server.on('request', (request, response) => void receiver.take(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.server)}/audit`;
  }

  /** Each record that was answered with 2xx, in the order of arrival. */
  get lines(): string[] {
    return this.deliveries.flatMap(({ body }) => body.split('\n').slice(0, -1));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += String(part);
    const behaviour = this.next.shift();
    if (behaviour) return behaviour(response, request);
    this.deliveries.push({ path: request.url ?? '', headers: request.headers, body });
    response.writeHead(204).end();
  }
}

/** A receiver of syslog frames with octet counting, over TCP or TLS. */
export class SyslogReceiver {
  readonly messages: string[] = [];
  /** What happens to the next connections in place of reading them. */
  readonly next: ((socket: Socket) => void)[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly transport: 'tcp' | 'tls',
  ) {}

  static async start(transport: 'tcp' | 'tls'): Promise<SyslogReceiver> {
    const server =
      transport === 'tcp'
        ? createTcpServer()
        : createTlsServer({ cert: LOCALHOST_CERTIFICATE, key: LOCALHOST_KEY });
    const receiver = new SyslogReceiver(server, transport);
    const event = transport === 'tcp' ? 'connection' : 'secureConnection';
    server.on(event, (socket: Socket) => receiver.take(socket));
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get url(): string {
    return `${this.transport}://localhost:${portOf(this.server)}`;
  }

  async stop(): Promise<void> {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await once(this.server, 'close');
  }

  private take(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    const behaviour = this.next.shift();
    if (behaviour) return behaviour(socket);
    const parts: Buffer[] = [];
    socket.on('data', (part) => parts.push(part));
    socket.on('end', () => this.messages.push(...framesIn(Buffer.concat(parts))));
  }
}

/** Datagrams that arrive. */
export class DatagramReceiver {
  readonly messages: string[] = [];
  private readonly socket = createSocket('udp4');

  static async start(): Promise<DatagramReceiver> {
    const receiver = new DatagramReceiver();
    receiver.socket.on('message', (message) => receiver.messages.push(message.toString('utf8')));
    receiver.socket.bind(0, '127.0.0.1');
    await once(receiver.socket, 'listening');
    return receiver;
  }

  get url(): string {
    return `udp://127.0.0.1:${this.socket.address().port}`;
  }

  stop(): void {
    this.socket.close();
  }
}

function portOf(server: { address(): AddressInfo | string | null }): number {
  return (server.address() as AddressInfo).port;
}

/** https://www.rfc-editor.org/rfc/rfc6587#section-3.4.1 */
function framesIn(bytes: Buffer): string[] {
  const frames: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(' ', at);
    const length = Number(bytes.toString('latin1', at, space));
    if (!(length > 0) || space + 1 + length > bytes.length) throw new Error('A frame is not whole.');
    frames.push(bytes.toString('utf8', space + 1, space + 1 + length));
    at = space + 1 + length;
  }
  return frames;
}
