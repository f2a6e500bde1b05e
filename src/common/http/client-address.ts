import type { RequestOrigin } from './messages.js';
import ipaddr from 'ipaddr.js';

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** The header in which a gateway process passes the client's address to the administration. Only gateway processes can reach its socket. */
export const CLIENT_ADDRESS_HEADER = 'x-gatehouse-client-address';

const RELAYED = Symbol('address of the client of a relayed request');

/** For the process that receives relayed requests: removes the header from the request and stores its value. */
export function takeClientAddress(request: RequestOrigin): void {
  const address = request.headers[CLIENT_ADDRESS_HEADER];
  (request as { [RELAYED]?: string })[RELAYED] = String(address ?? '');
  Reflect.deleteProperty(request.headers, CLIENT_ADDRESS_HEADER);
}

/**
 * The address of the client. `X-Forwarded-For` is trusted only as far as its writers are: it is read from the right, past every address of
 * a trusted proxy, to the first that is not one.
 */
export class ClientAddresses {
  private readonly trusted: readonly Range[];

  /** Addresses or CIDRs of proxies, as `isAddressRange` accepts them. */
  constructor(trusted: readonly string[]) {
    this.trusted = trusted.map(rangeOf);
  }

  of(request: RequestOrigin): string {
    const relayed = (request as { [RELAYED]?: string })[RELAYED];
    if (relayed !== undefined) return relayed;
    const peer = request.socket.remoteAddress ?? '';
    return this.trusted.length === 0 ? peer : this.beyondProxies(peer, request.headers['x-forwarded-for']);
  }

  private beyondProxies(peer: string, forwarded: string | string[] | undefined): string {
    const hops = String(forwarded ?? '')
      .split(',')
      .map((hop) => hop.trim())
      .filter((hop) => ipaddr.isValid(hop));
    let client = peer;
    while (hops.length > 0 && this.isTrusted(client)) client = hops.pop() as string;
    return client;
  }

  private isTrusted(text: string): boolean {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return this.trusted.some((range) => address.kind() === range[0].kind() && address.match(range));
  }
}

export function isAddressRange(text: string): boolean {
  return ipaddr.isValidCIDR(text) || ipaddr.isValid(text);
}

function rangeOf(text: string): Range {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
