import type { RequestListener } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { rememberClientCertificate } from '../../common/http/client-certificate.js';
import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import type { TlsListenerSettings } from '../../common/settings/tls-settings.js';
import { CertificateReloader } from './certificate-reloader.js';
import { checkTlsMaterial, readTlsFiles } from './tls-files.js';
import { countHandshakeFailure, type HandshakeFailure } from './tls-metrics.js';

/** A client has this long to establish TLS. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

const report = reportSparsely(createLogger('tls'));

export interface TlsServer {
  readonly server: Server;
  /** Ends the connections whose handshake is not finished: no request can be in them. */
  readonly endHandshakes: () => void;
}

/**
 * An HTTPS server with the certificate of the settings, which it reloads. Its `secureConnection` event has established connections; one that
 * it refuses is destroyed by then. Throws, naming the setting, for files that cannot be used.
 */
export function createTlsServer(
  settings: TlsListenerSettings,
  options: ServerOptions,
  listener: RequestListener,
): TlsServer {
  const { clientCertificates } = settings;
  const material = readTlsFiles(settings);
  checkTlsMaterial(material);
  const server = createServer(
    {
      ...options,
      ...material,
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      requestCert: clientCertificates !== null,
      rejectUnauthorized: clientCertificates?.areRequired ?? false,
    },
    listener,
  );
  const reloader = new CertificateReloader(settings, material, (next) => server.setSecureContext(next));
  reloader.start();
  server.once('close', () => reloader.stop());
  refuseFailedHandshakes(server);
  // Before Node's own listener, which serves the connection.
  if (clientCertificates) server.prependListener('secureConnection', identify);
  return { server, endHandshakes: trackHandshakes(server) };
}

/**
 * Notes who the client is. One that presents a certificate which does not verify is refused also where none is required: it believes to be
 * known. https://nginx.org/en/docs/http/ngx_http_ssl_module.html#ssl_verify_client
 */
function identify(socket: TLSSocket): void {
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return;
  if (!socket.authorized) {
    countHandshakeFailure('client_certificate');
    report('A client certificate was refused.', socket.authorizationError);
    socket.destroy();
    return;
  }
  const { subject, subjectAltName = '' } = certificate;
  // In the order of https://www.rfc-editor.org/rfc/rfc4514#section-2.1
  const name = subject ? subject.split('\n').reverse().join(',') : subjectAltName;
  rememberClientCertificate(socket, name);
}

/** Node's own listener would answer a failed handshake with a plain HTTP response. */
function refuseFailedHandshakes(server: Server): void {
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    const reason = failureOf(error);
    countHandshakeFailure(reason);
    if (reason !== 'disconnected') report(REPORTS[reason], error);
    socket.destroy();
  });
}

const REPORTS: Readonly<Record<HandshakeFailure, string>> = {
  client_certificate: 'A client was refused, because it presented no valid certificate.',
  disconnected: 'A client disconnected during the TLS handshake.',
  protocol: 'A TLS handshake failed.',
  timeout: 'A client did not finish the TLS handshake in time.',
};

/** Codes of OpenSSL and, for chains that do not verify, of X.509: https://nodejs.org/docs/latest-v20.x/api/tls.html#x509-certificate-error-codes */
function failureOf({ code = '' }: NodeJS.ErrnoException): HandshakeFailure {
  if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return 'timeout';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'disconnected';
  const isOfCertificate = /CERT|ISSUER|CHAIN|CRL|UNKNOWN_CA/.test(code);
  return isOfCertificate ? 'client_certificate' : 'protocol';
}

/** By the client's address and port, because the event of an established connection has another socket object than that of a new one. */
function trackHandshakes(server: Server): () => void {
  const running = new Map<string, Socket>();
  const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket);
    running.set(key, socket);
    socket.once('close', () => running.delete(key));
  });
  server.prependListener('secureConnection', (socket: TLSSocket) => running.delete(keyOf(socket)));
  return () => {
    for (const socket of running.values()) socket.destroy();
  };
}
