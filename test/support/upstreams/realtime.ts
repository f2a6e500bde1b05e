import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { listenOnOneOf, stopListening } from './listen.js';

/** A session as the provider saw it. */
export interface SeenSession {
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: WebSocket;
  /** Close code; null while the session lasts. */
  closedWith: number | null;
  readonly at: number;
  closedAt: number | null;
}

/** What a provider does with a session. */
export type Play = (socket: WebSocket) => void;

/** A provider of realtime sessions that keeps a ledger of them. It would compress, were it asked to. */
export class RealtimeUpstream {
  readonly sessions: SeenSession[] = [];
  /** Set to refuse handshakes in HTTP. */
  refusal: { readonly status: number; readonly body: string } | null = null;
  play: Play = (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data as Buffer, { binary: isBinary }));
  };
  port = 0;
  private readonly server: Server = createServer();
  private readonly sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: true,
    handleProtocols: (offered) => (offered.has('realtime') ? 'realtime' : false),
  });

  static async start(ports: readonly number[]): Promise<RealtimeUpstream> {
    const upstream = new RealtimeUpstream();
    upstream.server.on('upgrade', (request, socket, head) => {
      const { refusal } = upstream;
      if (refusal) {
        const { status, body } = refusal;
        socket.end(
          `HTTP/1.1 ${status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        );
        return;
      }
      upstream.sockets.handleUpgrade(request, socket, head, (open) => {
        const seen: SeenSession = {
          target: request.url ?? '',
          headers: request.headers,
          socket: open,
          closedWith: null,
          at: Date.now(),
          closedAt: null,
        };
        upstream.sessions.push(seen);
        open.on('close', (code) => {
          seen.closedWith = code;
          seen.closedAt = Date.now();
        });
        upstream.play(open);
      });
    });
    upstream.port = await listenOnOneOf(upstream.server, ports);
    return upstream;
  }

  get last(): SeenSession {
    const last = this.sessions.at(-1);
    if (!last) throw new Error('No session has reached the provider.');
    return last;
  }

  async stop(): Promise<void> {
    for (const { socket } of this.sessions) socket.terminate();
    await stopListening(this.server);
  }
}
