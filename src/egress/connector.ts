import { type LookupFunction, type Socket, connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls, type ConnectionOptions, rootCertificates } from 'node:tls';
import type { buildConnector } from 'undici';
import { answeredWithin } from '../common/processes/answered-within.js';
import { AppError } from '../common/errors/app-error.js';
import { parseAddress } from '../common/net/address-classes.js';
import {
  type DestinationPolicy,
  type SocketDestination,
  blockedDestination,
  endpointOf,
} from '../common/net/destination-policy.js';
import type { ProxySettings } from '../common/settings/proxy-settings.js';
import { type OpeningTunnel, openTunnel, proxyFor } from './outbound-proxy.js';
import { readBeforeDestroy } from './read-before-destroy.js';
import type { Resolve } from './resolver.js';
import { TlsSessions } from './tls-sessions.js';
import { endSafelyWhilePaused, markReset } from './undici-parser.js';
import { upstreamFailure } from './upstream-failure.js';

export interface ConnectorParts {
  readonly policy: DestinationPolicy;
  readonly resolve: Resolve;
  /** Milliseconds for name lookup, TCP and TLS together. */
  readonly connectMs: number;
  /** For HTTP; protocols other than HTTP connect directly. Absent without an outbound proxy. */
  readonly proxies?: ProxySettings | undefined;
}

/** The variable parameters of a socket. */
interface Dial extends ConnectorParts {
  /** TLS sessions to resume; without them every handshake is a full one. */
  readonly sessions?: TlsSessions;
  /** Certificates (PEM) to trust besides those of the system. */
  readonly ca?: string | undefined;
}

/** Opens one socket to an endpoint. */
export type Dialer = (endpoint: SocketDestination, opened: OpenCallback) => void;

/**
 * Connects to a provider.
 *
 * A name is resolved once per socket, all of its addresses are checked, and only they are used; TLS still sends and verifies the name.
 * Literal addresses are checked here too, because Node does not look them up. Once connected, the peer's address is compared with the
 * checked ones. Fails with an AppError, which requests pass on.
 */
export function createDialer(parts: ConnectorParts): Dialer {
  const dial = { ...parts, sessions: new TlsSessions() };
  return (endpoint, opened) =>
    new Connection(dial, endpoint, (error, socket) => {
      if (socket === null) return opened(error, null);
      readBeforeDestroy(socket);
      opened(null, socket);
    }).start();
}

/** The same in the form that undici expects. */
export function connectorOf(dial: Dialer): buildConnector.connector {
  return (options, callback) => {
    dial(endpointOf(options), (error, socket) => {
      if (socket === null) return callback(error, null);
      callback(null, socket);
      endSafelyWhilePaused(socket);
    });
  };
}

/** Opens a separate connection under the same rules. `ca`: certificates to trust as well, in PEM. */
export function openSocket(parts: ConnectorParts, endpoint: SocketDestination, ca?: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    new Connection({ ...parts, ca }, endpoint, (error, socket) => {
      if (socket === null) reject(error);
      else resolve(socket);
    }).start();
  });
}

/** The addresses of an endpoint, all of them checked: the only ones that a socket may connect to. */
export async function judgedAddresses(
  { policy, resolve }: ConnectorParts,
  endpoint: SocketDestination,
): Promise<readonly string[]> {
  policy.checkBeforeLookup(endpoint);
  if (isIP(endpoint.host) !== 0) {
    policy.checkAddresses(endpoint, [endpoint.host]);
    return [endpoint.host];
  }
  const addresses = await lookUp(policy, resolve, endpoint);
  policy.checkAddresses(endpoint, addresses);
  return addresses;
}

/** How long a machine behind a proxy waits for its own DNS, which may not know any public name. */
const LOOKUP_BEHIND_PROXY_MS = 500;

/**
 * The rules for a destination whose name the proxy resolves. The addresses that this machine finds for it are checked all the same, so a
 * name of the private network is refused here. A name that only the proxy knows passes, unless it is a private one.
 */
async function judgeBehindProxy(
  { policy, resolve }: ConnectorParts,
  endpoint: SocketDestination,
): Promise<void> {
  policy.checkBeforeLookup(endpoint);
  if (isIP(endpoint.host) !== 0) return policy.checkAddresses(endpoint, [endpoint.host]);
  const addresses = await answeredWithin(resolve(endpoint.host), LOOKUP_BEHIND_PROXY_MS, 'no reply').catch(
    () => [],
  );
  if (addresses.length === 0 && policy.hidesAbsence(endpoint)) throw blockedDestination(endpoint);
  policy.checkAddresses(endpoint, addresses);
}

async function lookUp(
  policy: DestinationPolicy,
  resolve: Resolve,
  endpoint: SocketDestination,
): Promise<readonly string[]> {
  const hidden = policy.hidesAbsence(endpoint);
  try {
    const addresses = await resolve(endpoint.host);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    throw hidden ? blockedDestination(endpoint) : error;
  }
  throw hidden ? blockedDestination(endpoint) : new AppError('upstream_error', { detail: 'name not found' });
}

type OpenCallback = (...answer: [error: Error, socket: null] | [error: null, socket: Socket]) => void;

const ATTEMPT_DELAY_MS = 250;
const KEEP_ALIVE_PROBE_MS = 30_000;
const READ_BUFFER_BYTES = 64 * 1024;

class Connection {
  private socket: Socket | undefined;
  private tunnel: OpeningTunnel | undefined;
  private deadline: NodeJS.Timeout | undefined;
  private settled = false;

  constructor(
    private readonly dial: Dial,
    private readonly endpoint: SocketDestination,
    private readonly callback: OpenCallback,
  ) {}

  start(): void {
    const { connectMs, proxies } = this.dial;
    this.deadline = setTimeout(() => {
      this.fail(new AppError('upstream_timeout', { timeoutMs: connectMs, phase: 'connect' }));
    }, connectMs);
    const proxy = proxyFor(proxies, this.endpoint);
    const opening = proxy ? this.openThrough(proxy) : this.openDirectly();
    opening.catch((error: unknown) => this.fail(error));
  }

  private async openDirectly(): Promise<void> {
    const addresses = await judgedAddresses(this.dial, this.endpoint);
    if (this.settled) return;
    const { secure } = this.endpoint;
    const options = this.tcpOptions(addresses);
    const socket = secure ? this.openTls(options) : connectTcp(options);
    this.follow(socket);
    // Added before the success listener, so that a connection to a wrong peer is closed before any caller gets the socket.
    socket.prependOnceListener('connect', () => this.checkPeer(socket, addresses));
  }

  private async openThrough(proxy: URL): Promise<void> {
    await judgeBehindProxy(this.dial, this.endpoint);
    if (this.settled) return;
    this.tunnel = openTunnel(proxy, this.endpoint, READ_BUFFER_BYTES);
    const tunnel = await this.tunnel.socket;
    if (this.settled) return void tunnel.destroy();
    const { secure } = this.endpoint;
    this.follow(secure ? this.openTls({ socket: tunnel }) : tunnel);
    if (!secure) this.succeed(tunnel);
  }

  private follow(socket: Socket): void {
    const { secure } = this.endpoint;
    this.socket = socket;
    socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
    socket.on('error', (error) => {
      if (this.settled) markReset(error);
      else this.fail(error);
    });
    socket.once(secure ? 'secureConnect' : 'connect', () => this.succeed(socket));
  }

  private tcpOptions(addresses: readonly string[]) {
    const { host, port } = this.endpoint;
    return {
      host,
      port,
      lookup: pinnedTo(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ATTEMPT_DELAY_MS,
      highWaterMark: READ_BUFFER_BYTES,
    };
  }

  private openTls(carrier: ConnectionOptions): Socket {
    const { host, port } = this.endpoint;
    const origin = `${host}:${port}`;
    const { sessions, ca } = this.dial;
    const session = sessions?.get(origin);
    const socket = connectTls({
      ...carrier,
      ...(isIP(host) === 0 && { servername: host }),
      ...(session && { session }),
      ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
      ALPNProtocols: ['http/1.1'],
    });
    sessions?.follow(origin, socket);
    return socket;
  }

  private checkPeer(socket: Socket, addresses: readonly string[]): void {
    const peer = parseAddress(socket.remoteAddress ?? '')?.toNormalizedString();
    const isPinned = addresses.some((address) => parseAddress(address)?.toNormalizedString() === peer);
    if (peer === undefined || !isPinned) this.fail(blockedDestination(this.endpoint));
  }

  private succeed(socket: Socket): void {
    if (this.settled) return;
    this.settle();
    this.callback(null, socket);
  }

  private fail(error: unknown): void {
    if (this.settled) return;
    this.settle();
    this.tunnel?.abandon();
    this.socket?.destroy();
    this.callback(upstreamFailure(error), null);
  }

  private settle(): void {
    this.settled = true;
    clearTimeout(this.deadline);
  }
}

/** Returns the checked addresses to the lookup of `net.connect`, whatever the name resolves to by then. */
function pinnedTo(addresses: readonly string[]): LookupFunction {
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, options, callback) => {
    const [first] = pinned;
    if (options.all) callback(null, pinned);
    else callback(null, first?.address ?? '', first?.family ?? 0);
  };
}
