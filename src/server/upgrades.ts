import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isClosing } from '../common/http/lingering-close.js';
import { planeOf } from '../gateway/ingress/front-door.js';

/** Takes over sockets that are to become WebSockets. */
export interface Sockets {
  /** Never throws. `early` came behind the request. */
  handle(request: IncomingMessage, socket: Duplex, early: Buffer): void;
  /** Ends them all. */
  close(): void;
}

/**
 * Gives WebSocket requests of the data plane to `sockets`. Any other upgrade is not granted, which
 * HTTP allows (https://www.rfc-editor.org/rfc/rfc9110#section-7.8): the request is answered as it would be without, by `serve`.
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
 * Node 20 hands over the socket of every request with an `Upgrade` field, read up to its head. The head goes back in front of what
 * follows, without that field, for the server to read the connection again.
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
