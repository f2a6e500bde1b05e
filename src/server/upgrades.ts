import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isClosing } from '../common/http/lingering-close.js';
import { planeOf } from '../gateway/ingress/front-door.js';

/** Takes over sockets that are to become WebSockets. */
export interface Sockets {
  /** Never throws. `early`: bytes that arrived after the request. */
  handle(request: IncomingMessage, socket: Duplex, early: Buffer): void;
  /** Ends all of them. */
  close(): void;
}

/**
 * Passes WebSocket requests of the data plane to `sockets`. Any other upgrade is declined, which HTTP allows
 * (https://www.rfc-editor.org/rfc/rfc9110#section-7.8): `serve` answers the request as if it had no upgrade.
 */
export function acceptUpgrades(server: Server, sockets: Sockets, serve: (socket: Socket) => void): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, early: Buffer) => {
    if (isClosing(request)) {
      socket.destroy();
      return;
    }
    const isWebSocket = request.headers.upgrade?.toLowerCase() === 'websocket';
    if (isWebSocket && planeOf(request.url ?? '') === 'gateway') sockets.handle(request, socket, early);
    else serve(unread({ request, socket, early }));
  });
}

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly early: Buffer;
}

/**
 * Node 20 passes the socket of every request with an `Upgrade` field, read up to its head. The head, without that field, is put back before
 * the following bytes, for the server to read the connection again.
 */
function unread({ request, socket, early }: Upgrade): Socket {
  const { method = '', url = '', httpVersion, rawHeaders } = request;
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() !== 'upgrade')
      head += `${rawHeaders[at] ?? ''}: ${rawHeaders[at + 1] ?? ''}\r\n`;
  socket.unshift(Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), early]));
  return socket as Socket;
}
