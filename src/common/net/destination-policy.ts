import { AppError } from '../errors/app-error.js';
import { type Address, classify, parseAddress } from './address-classes.js';
import { type EgressRule, isAllowed, matchesName, opensPort } from './egress-allow.js';
import { isMetadataName, isOwnMachine, isPrivateName } from './host-names.js';

/** Destination of a socket. `host` is a lower-case name, or an address without brackets. */
export interface SocketDestination {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
}

const OPEN_PORTS: ReadonlySet<number> = new Set([80, 443]);

/**
 * Decides which addresses may be called. Only public addresses over TLS on ports 80 and 443 are allowed by default; the operator's rules
 * allow more, but never metadata services. All refusals look the same, so that they reveal nothing about the private network.
 */
export class DestinationPolicy {
  constructor(private readonly rules: readonly EgressRule[]) {}

  /** Refuses what can be refused before the name is resolved. */
  checkBeforeLookup(endpoint: SocketDestination): void {
    const address = parseAddress(endpoint.host);
    if (address) this.checkAddress(endpoint, address);
    else if (!this.mayBeOpen(endpoint)) throw blockedDestination(endpoint);
  }

  /** Refuses unless every address is allowed: rebinding begins with one private address among public ones. */
  checkAddresses(endpoint: SocketDestination, addresses: readonly string[]): void {
    for (const text of addresses) {
      const address = parseAddress(text);
      if (!address) throw blockedDestination(endpoint);
      this.checkAddress(endpoint, address);
    }
  }

  /** Whether the error must not reveal that a name was not found, which would disclose private names. */
  hidesAbsence({ host, port }: SocketDestination): boolean {
    return isPrivateName(host) && !this.isNamed(host, port);
  }

  private checkAddress(endpoint: SocketDestination, address: Address): void {
    const { secure, host, port } = endpoint;
    const kind = classify(address);
    if (kind === 'metadata') throw blockedDestination(endpoint);
    if (isAllowed(this.rules, host, address, port)) return;
    if (kind !== 'public' || !secure || !OPEN_PORTS.has(port)) throw blockedDestination(endpoint);
  }

  private mayBeOpen({ secure, host, port }: SocketDestination): boolean {
    if (host.endsWith('.') || isMetadataName(host)) return false;
    if (this.isNamed(host, port)) return true;
    if (isOwnMachine(host)) return false;
    const looksPublic = secure && OPEN_PORTS.has(port) && !isPrivateName(host);
    return looksPublic || this.rules.some((rule) => rule.range !== null && opensPort(rule, port));
  }

  private isNamed(host: string, port: number): boolean {
    return this.rules.some((rule) => opensPort(rule, port) && matchesName(rule, host));
  }
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

/** Parses a URL, refusing schemes other than HTTP. */
export function endpointOf({
  protocol,
  hostname,
  port,
}: {
  protocol: string;
  hostname: string;
  port: string;
}): SocketDestination {
  const defaultPort = DEFAULT_PORTS[protocol];
  if (defaultPort === undefined)
    throw new AppError('custom_host_invalid', { detail: 'the scheme must be http or https' });
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return {
    secure: protocol === 'https:',
    host: host.toLowerCase(),
    port: port === '' ? defaultPort : Number(port),
  };
}

/** Names the destination as the caller wrote it, in the notation of `GATEHOUSE_EGRESS_ALLOW`, and never the addresses of its name. */
export const blockedDestination = ({ host, port }: Pick<SocketDestination, 'host' | 'port'>): AppError =>
  new AppError('custom_host_blocked', { address: `${host.includes(':') ? `[${host}]` : host}:${port}` });
