import type { RequestOrigin } from './messages.js';
import ipaddr from 'ipaddr.js';

type ProxyRange = [ipaddr.IPv4 | ipaddr.IPv6, number];

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
 * a trusted proxy, to the first that is not one. A hop without an address ends the reading: the last proxy before it counts as the client.
 */
export class ClientAddresses {
  private readonly trusted: readonly ProxyRange[];

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
    const hops = String(forwarded ?? '').split(',');
    let client = peer;
    while (hops.length > 0 && this.isTrusted(client)) {
      const hop = addressIn(hops.pop() as string);
      // A proxy wrote it, so what is left of it may be the client's own.
      if (hop === null) return client;
      client = hop;
    }
    return client;
  }

  private isTrusted(text: string): boolean {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return this.trusted.some((range) => address.kind() === range[0].kind() && address.match(range));
  }
}

const WITH_PORT = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::\d{1,5})?$/;

/**
 * The address of a hop, which some proxies write with a port, and of IPv6 in brackets. Null without one: `unknown`, a name, or a malformed
 * address. https://azure.microsoft.com/en-us/blog/rewrite-http-headers-with-azure-application-gateway/
 */
function addressIn(hop: string): string | null {
  const text = hop.trim();
  if (ipaddr.IPv6.isValid(text)) return text;
  const [, v6, v4] = WITH_PORT.exec(text) ?? [];
  if (v6 !== undefined) return ipaddr.IPv6.isValid(v6) ? v6 : null;
  return v4 !== undefined && ipaddr.IPv4.isValidFourPartDecimal(v4) ? v4 : null;
}

export function isAddressRange(text: string): boolean {
  return ipaddr.isValidCIDR(text) || ipaddr.isValid(text);
}

function rangeOf(text: string): ProxyRange {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
