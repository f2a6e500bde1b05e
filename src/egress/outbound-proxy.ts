import { type ClientRequest, request as plainRequest, type RequestOptions } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP, isIPv6, type Socket } from 'node:net';
import { AppError } from '../common/errors/app-error.js';
import { parseAddress } from '../common/net/address-classes.js';
import type { SocketDestination } from '../common/net/destination-policy.js';
import { isOwnMachine } from '../common/net/host-names.js';
import { isExcepted, type ProxySettings } from '../common/settings/proxy-settings.js';

/** The proxy for a destination; null for a direct connection. Destinations on this machine never use one. */
export function proxyFor(
  settings: ProxySettings | undefined,
  { secure, host, port }: SocketDestination,
): URL | null {
  const proxy = secure ? settings?.https : settings?.http;
  if (!settings || !proxy) return null;
  const address = parseAddress(host);
  if (isOwnMachine(host) || address?.range() === 'loopback') return null;
  const destination = { host, port, address };
  return settings.exceptions.some((exception) => isExcepted(exception, destination))
    ? null
    : new URL(proxy.reveal());
}

/** A tunnel that is being opened. */
export interface OpeningTunnel {
  /** Rejects with an AppError. */
  readonly socket: Promise<Socket>;
  abandon(): void;
}

const OK = 200;

/** Opens a tunnel through the proxy, for TLS as for plain HTTP: https://www.rfc-editor.org/rfc/rfc9110#CONNECT */
export function openTunnel(
  proxy: URL,
  { host, port }: SocketDestination,
  highWaterMark: number,
): OpeningTunnel {
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const send = proxy.protocol === 'https:' ? tlsRequest : plainRequest;
  const name = proxy.hostname.replace(/^\[|\]$/g, '');
  const options: RequestOptions & { readonly highWaterMark: number; readonly servername: string } = {
    host: name,
    // Node would verify the certificate of a proxy with TLS for the name in `Host`, which is the destination's.
    servername: isIP(name) === 0 ? name : '',
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: authority,
    agent: false,
    highWaterMark,
    headers: { host: authority, connection: 'keep-alive', ...authorizationOf(proxy) },
  };
  const request = send(options);
  return { socket: tunnelOf(request), abandon: () => request.destroy() };
}

function tunnelOf(request: ClientRequest): Promise<Socket> {
  return new Promise((resolve, reject) => {
    request.once('connect', ({ statusCode = 0 }, socket, head) => {
      const tunnel = socket;
      // Nobody speaks before us: neither a TLS server nor one of HTTP.
      if (statusCode === OK && head.length === 0) return resolve(tunnel);
      tunnel.destroy();
      reject(failure(`the outbound proxy refused the connection with status ${statusCode}`));
    });
    request.once('error', (error: NodeJS.ErrnoException) =>
      reject(failure(`the outbound proxy cannot be reached (${error.code ?? error.message})`, error)),
    );
    request.end();
  });
}

const failure = (detail: string, cause?: unknown): AppError =>
  new AppError('upstream_error', { detail }, cause === undefined ? undefined : { cause });

/** https://www.rfc-editor.org/rfc/rfc7617#section-2 */
function authorizationOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
