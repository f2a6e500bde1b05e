import type { TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';

const MAX_ORIGINS = 512;

/**
 * The newest TLS session of each origin, so that a second connection saves a round trip and the server's certificate chain. Node does not
 * verify the name again when a session is resumed, so only sessions of connections with a valid certificate are kept.
 */
export class TlsSessions {
  private readonly sessions = new LRUCache<string, Buffer>({ max: MAX_ORIGINS });

  get(origin: string): Buffer | undefined {
    return this.sessions.get(origin);
  }

  /** Stores the sessions that the socket receives: before the handshake is verified (TLS 1.2) or long after it (TLS 1.3). */
  follow(origin: string, socket: TLSSocket): void {
    let unverified: Buffer | undefined;
    socket.on('session', (session: Buffer) => {
      if (socket.authorized) this.sessions.set(origin, session);
      else unverified = session;
    });
    socket.once('secureConnect', () => {
      if (unverified && socket.authorized) this.sessions.set(origin, unverified);
      unverified = undefined;
    });
  }
}
