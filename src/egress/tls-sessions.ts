import type { TLSSocket } from 'node:tls';

const MAX_ORIGINS = 512;

/**
 * The newest TLS session of each origin, so that a second connection saves a round trip and the server's certificate
 * chain. Node does not check the name again when a session is resumed, so only sessions of connections
 * whose certificate was valid are kept.
 */
export class TlsSessions {
  private readonly sessions = new Map<string, Buffer>();

  get(origin: string): Buffer | undefined {
    return this.sessions.get(origin);
  }

  /** Keeps what the socket receives: before the handshake is verified (TLS 1.2) or long after it (TLS 1.3). */
  follow(origin: string, socket: TLSSocket): void {
    let unverified: Buffer | undefined;
    socket.on('session', (session: Buffer) => {
      if (socket.authorized) this.keep(origin, session);
      else unverified = session;
    });
    socket.once('secureConnect', () => {
      if (unverified && socket.authorized) this.keep(origin, unverified);
      unverified = undefined;
    });
  }

  private keep(origin: string, session: Buffer): void {
    this.sessions.delete(origin);
    this.sessions.set(origin, session);
    const oldest = this.sessions.keys().next();
    if (this.sessions.size > MAX_ORIGINS && !oldest.done) this.sessions.delete(oldest.value);
  }
}
