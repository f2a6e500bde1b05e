import type { Socket } from 'node:net';
import type { RequestOrigin } from './messages.js';

const subjects = new WeakMap<Socket, string>();

/** Keeps who the verified client certificate of a connection belongs to. */
export function rememberClientCertificate(socket: Socket, subject: string): void {
  subjects.set(socket, subject);
}

/** The subject of the client certificate on whose connection a request arrived; null without one. */
export const clientCertificateOf = ({ socket }: Pick<RequestOrigin, 'socket'>): string | null =>
  subjects.get(socket) ?? null;
