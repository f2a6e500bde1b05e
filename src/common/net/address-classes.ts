import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Classifies a binary address, never a text, because one address has many spellings.
 *
 * Sources: the IANA registries of special-purpose addresses, https://www.iana.org/assignments/iana-ipv4-special-registry/ and
 * https://www.iana.org/assignments/iana-ipv6-special-registry/, where every block below is listed as not globally reachable, plus
 * multicast, https://www.iana.org/assignments/multicast-addresses/.
 */
export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressRange = readonly [Address, number];

/** `metadata` is blocked whatever the operator allows; `private` can be allowed; `public` always is. */
export type AddressClass = 'metadata' | 'private' | 'public';

const ranges = (...cidrs: readonly string[]): readonly AddressRange[] =>
  cidrs.map((cidr) => ipaddr.parseCIDR(cidr));

/** Addresses at which clouds give the machine's credentials to any process. */
const METADATA = ranges(
  '169.254.0.0/16', // AWS, Google, Azure, Oracle, DigitalOcean; AWS ECS at .170.2
  '100.100.100.200/32', // Alibaba
  '168.63.129.16/32', // Azure's WireServer, inside a public range
  '192.0.0.192/32', // Oracle, older images
  'fd00:ec2::/32', // AWS
  'fd20:ce::/32', // Google
  'fe80::a9fe:a9fe/128', // OpenStack
);

const PRIVATE_V4 = ranges(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
);

/** Unicast blocks that IANA has allocated. Everything outside, loopback to multicast, is blocked without being listed. */
const GLOBAL_UNICAST_V6 = ranges('2000::/3');
const PRIVATE_V6 = ranges(
  '2001::/23', // protocol assignments; Teredo is inside
  '2001:db8::/32',
  '2002::/16', // 6to4
  '3fff::/20',
);

/** RFC 6052, section 2.1: an IPv4 address behind the translator of an IPv6-only network. */
const NAT64 = ranges('64:ff9b::/96');

/** The address of a canonical text as accepted by `net.isIP`, with IPv4-mapped ones as the IPv4 address they reach; else null. */
export function parseAddress(text: string): Address | null {
  const version = text.includes('%') ? 0 : isIP(text);
  if (version === 0) return null;
  return version === 4 ? ipaddr.parse(text) : ipaddr.process(inHexadecimal(text));
}

/** ipaddr.js reads `::8.8.8.8` as mapped; the URL parser writes the hexadecimal form that is actually used. */
function inHexadecimal(text: string): string {
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
}

export function isWithin(address: Address, candidates: readonly AddressRange[]): boolean {
  return candidates.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}

export function classify(address: Address): AddressClass {
  const embedded = address instanceof ipaddr.IPv6 ? embeddedV4(address) : [];
  if ([address, ...embedded].some((one) => isWithin(one, METADATA))) return 'metadata';
  if (!isReachable(address)) return 'private';
  return embedded.every(isReachable) ? 'public' : 'private';
}

/** Whether a range lies entirely within one that is always blocked, so that allowing it would be a mistake. */
export function isMetadataRange([base, bits]: AddressRange): boolean {
  return METADATA.some(
    ([closed, closedBits]) => bits >= closedBits && isWithin(base, [[closed, closedBits]]),
  );
}

function isReachable(address: Address): boolean {
  if (address instanceof ipaddr.IPv4) return !isWithin(address, PRIVATE_V4);
  if (isWithin(address, NAT64)) return true;
  return isWithin(address, GLOBAL_UNICAST_V6) && !isWithin(address, PRIVATE_V6);
}

const LOW_96_EMPTY = '0'.repeat(24);

/**
 * The IPv4 addresses that an IPv6 address may be routed to. Mapped ones are unwrapped by `parseAddress`. RFC 4291 2.5.5 (compatible), 3056
 * (6to4), 6052 (NAT64), 8215 (local NAT64), 4380 (Teredo), 5214 (ISATAP), 2765 (translated).
 */
function embeddedV4(address: ipaddr.IPv6): readonly ipaddr.IPv4[] {
  const bytes = address.toByteArray();
  const hex = Buffer.from(bytes).toString('hex');
  const at = (start: number) => new ipaddr.IPv4(bytes.slice(start, start + 4));
  if (hex.startsWith('2002')) return [at(2)];
  if (hex.startsWith('20010000')) return [at(4), new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff))];
  if (hex.startsWith('0064ff9b0001'))
    return [at(12), new ipaddr.IPv4([...bytes.slice(6, 8), ...bytes.slice(9, 11)])];
  const carriesV4 =
    hex.startsWith('0064ff9b') ||
    hex.startsWith(LOW_96_EMPTY) ||
    hex.startsWith('0000000000000000ffff0000') ||
    /^.{16}0[02]005efe/.test(hex);
  return carriesV4 ? [at(12)] : [];
}
