import type { Dispatcher, Pool } from 'undici';
import { UndiciPool } from './undici-pool.js';
import { ConnectionPool } from './http1/connection-pool.js';
import type { ProxySettings } from '../common/settings/proxy-settings.js';
import type { UpstreamTimeouts } from '../common/settings/settings.js';
import type { Socket } from 'node:net';
import { type ConnectorParts, type Dialer, connectorOf, createDialer, openSocket } from './connector.js';
import { sendDatagrams } from './datagrams.js';
import { DestinationPolicy, type SocketDestination, endpointOf } from '../common/net/destination-policy.js';
import type { EgressRule } from '../common/net/egress-allow.js';
import { Origin } from './origin.js';
import { type Resolve, cachingResolver, resolveBySystem } from './resolver.js';

export interface EgressOptions {
  readonly allow: readonly EgressRule[];
  readonly timeouts: Pick<UpstreamTimeouts, 'connectMs'>;
  /** For HTTP, tunnels included. Default: none. */
  readonly proxies?: ProxySettings | undefined;
  /** Connections per pool at most, for each of the two clients; further requests wait for a free one. */
  readonly connections?: number;
  /** Maximum number of pools kept. */
  readonly maxPools?: number;
  readonly resolve?: Resolve;
  /** The client for requests whose bytes are all available. Default: our own. */
  readonly client?: 'own' | 'undici';
}

const MAX_POOLS = 512;
const MAX_CONNECTIONS = 4_096;
const KEEP_ALIVE_MS = 30_000;
const MAX_HEADER_BYTES = 64 * 1024;
/** A connection that is never idle would otherwise not follow a changed DNS record. */
const REQUESTS_PER_CONNECTION = 10_000;

/**
 * All outgoing connections of the service.
 *
 * A pool belongs to one tenant and one origin, so that a response left in a connection cannot reach another tenant. Redirects are never
 * followed and bodies never decompressed: the pool passes on what it reads.
 */
export class Egress {
  private readonly policy: DestinationPolicy;
  private readonly dial: Dialer;
  private readonly resolve: Resolve;
  private readonly parts: ConnectorParts;
  /** With the outbound proxies. */
  private readonly httpParts: ConnectorParts;
  private readonly tenants = new Map<string, Map<string, Origin>>();
  private size = 0;
  private uses = 0;

  constructor(private readonly options: EgressOptions) {
    this.policy = new DestinationPolicy(options.allow);
    this.resolve = cachingResolver(options.resolve ?? resolveBySystem);
    this.parts = {
      policy: this.policy,
      resolve: this.resolve,
      connectMs: options.timeouts.connectMs,
    };
    this.httpParts = { ...this.parts, proxies: options.proxies };
    this.dial = createDialer(this.httpParts);
  }

  /**
   * Refuses with `custom_host_blocked` what is blocked without a name lookup, and with `custom_host_invalid` schemes other than HTTP.
   * Passing guarantees nothing: each new socket is checked again.
   */
  checkDestination(url: URL): void {
    this.policy.checkBeforeLookup(endpointOf(url));
  }

  /** The same for a destination other than HTTP. */
  checkEndpoint(endpoint: SocketDestination): void {
    this.policy.checkBeforeLookup(endpoint);
  }

  /**
   * A separate connection for protocols other than HTTP; the caller destroys it. Over TLS the certificate must be valid for the host; `ca`
   * are certificates (PEM) to trust besides the default ones. Rejects with an AppError.
   */
  openSocket(endpoint: SocketDestination, ca?: string): Promise<Socket> {
    return openSocket(this.parts, endpoint, ca);
  }

  /** The same for a client of HTTP with connections of its own: through the outbound proxy, if there is one. */
  openHttpSocket(endpoint: SocketDestination): Promise<Socket> {
    return openSocket(this.httpParts, endpoint);
  }

  /** Sends datagrams in order. Resolves when the system has accepted them: whether they arrive is unknown. */
  sendDatagrams(endpoint: SocketDestination, datagrams: readonly Buffer[]): Promise<void> {
    return sendDatagrams(this.parts, endpoint, datagrams);
  }

  /** Whether the name of a host has an address. Nothing is sent to it. */
  async hasAddress(host: string): Promise<boolean> {
    const addresses = await this.resolve(host).catch(() => []);
    return addresses.length > 0;
  }

  /**
   * The connections of one tenant to one origin (`https://api.example.com`), opened on demand. Dispatch in the same turn of the event loop:
   * the least recently used pool may be closed when another one is created. Failures arrive in the handler's `onError`; `upstreamFailure`
   * returns their AppError.
   */
  origin(tenant: string, origin: string): Origin {
    const entry = this.tenants.get(tenant)?.get(origin) ?? this.add(tenant, origin);
    entry.lastUse = ++this.uses;
    return entry;
  }

  /** The dispatcher for any request, with everything that undici supports. */
  pool(tenant: string, origin: string): Dispatcher {
    return this.origin(tenant, origin).dispatcher;
  }

  /** Ends every connection. Requests under way fail, so call it after the time that streams get to finish. */
  async close(): Promise<void> {
    const entries = [...this.tenants.values()].flatMap((origins) => [...origins.values()]);
    this.tenants.clear();
    this.size = 0;
    await Promise.all(entries.map((entry) => entry.destroy()));
  }

  private add(tenant: string, origin: string): Origin {
    const url = new URL(origin);
    this.checkDestination(url);
    if (this.size >= (this.options.maxPools ?? MAX_POOLS)) this.dropLongestUnused();
    const connections = this.options.client === 'undici' ? null : this.createConnections(url);
    const entry = new Origin(connections, () => this.createPool(origin));
    const origins = this.tenants.get(tenant) ?? new Map<string, Origin>();
    this.tenants.set(tenant, origins.set(origin, entry));
    this.size += 1;
    return entry;
  }

  private createConnections(url: URL): ConnectionPool {
    const endpoint = endpointOf(url);
    return new ConnectionPool({
      host: url.host,
      connect: (connected) => this.dial(endpoint, connected),
      connections: this.options.connections ?? MAX_CONNECTIONS,
      keepAliveMs: KEEP_ALIVE_MS,
      requestsPerConnection: REQUESTS_PER_CONNECTION,
    });
  }

  private createPool(origin: string): Pool {
    return new UndiciPool(origin, {
      connect: connectorOf(this.dial),
      connections: this.options.connections ?? MAX_CONNECTIONS,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      maxRequestsPerClient: REQUESTS_PER_CONNECTION,
      // The gateway has its own timeouts, per attempt.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** Requests under way in the dropped pool finish; only then its connections close. */
  private dropLongestUnused(): void {
    let victim: { readonly tenant: string; readonly origin: string; readonly entry: Origin } | undefined;
    for (const [tenant, origins] of this.tenants)
      for (const [origin, entry] of origins)
        if (!victim || entry.lastUse < victim.entry.lastUse) victim = { tenant, origin, entry };
    if (!victim) return;
    const origins = this.tenants.get(victim.tenant);
    origins?.delete(victim.origin);
    if (origins?.size === 0) this.tenants.delete(victim.tenant);
    this.size -= 1;
    victim.entry.close();
  }
}
