import ipaddr from 'ipaddr.js';
import {
  type Address,
  type AddressRange,
  isMetadataRange,
  isWithin,
  parseAddress,
} from './address-classes.js';
import { isMetadataName } from './host-names.js';

/** One private destination allowed by the operator: an address range or a name, on one port or on all. */
export interface EgressRule {
  readonly range: AddressRange | null;
  /** Lower case; `*.suffix` matches every name below the suffix. Null in rules for addresses. */
  readonly name: string | null;
  /** Null means every port. */
  readonly port: number | null;
}

export interface ParsedEgressAllow {
  readonly rules: readonly EgressRule[];
  /** One sentence per invalid entry. */
  readonly problems: readonly string[];
}

/** Parses `host-or-CIDR:port[,...]`; the port may be `*`, IPv6 is in brackets: `[fd00::/8]:8000`. */
export function parseEgressAllow(text: string): ParsedEgressAllow {
  const rules: EgressRule[] = [];
  const problems: string[] = [];
  for (const entry of text.split(',').map((part) => part.trim())) {
    if (entry === '') continue;
    const rule = parseEntry(entry);
    if (typeof rule === 'string') problems.push(`"${entry}" ${rule}`);
    else rules.push(rule);
  }
  return { rules, problems };
}

/** The rule for an address in a setting: exactly its host and port. Metadata services stay blocked. */
export function ruleFor({ protocol, hostname, port }: URL): ParsedEgressAllow {
  const usual = protocol === 'https:' ? '443' : '80';
  return parseEgressAllow(`${hostname}:${port === '' ? usual : port}`);
}

/** Whether a rule allows an address, reached by a name or directly, on that port. */
export function isAllowed(
  rules: readonly EgressRule[],
  name: string,
  address: Address,
  port: number,
): boolean {
  return rules.some(
    (rule) =>
      opensPort(rule, port) && (rule.range ? isWithin(address, [rule.range]) : matchesName(rule, name)),
  );
}

export function opensPort(rule: EgressRule, port: number): boolean {
  return rule.port === null || rule.port === port;
}

export function matchesName({ name: pattern }: EgressRule, name: string): boolean {
  if (pattern === null) return false;
  return pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern;
}

const ENTRY = /^(\[[^\]]+\](?:\/\d+)?|[^:[\]]+):(\*|\d{1,5})$/;
const NAME = /^(\*\.)?(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;
const IS_RANGE = /^\[|\/|^[\d.]+$/;

function parseEntry(entry: string): EgressRule | string {
  const [, host, portText] = ENTRY.exec(entry) ?? [];
  if (host === undefined || portText === undefined)
    return 'is not host:port or CIDR:port; the port may be *, IPv6 stands in brackets.';
  const port = portText === '*' ? null : Number(portText);
  if (port !== null && (port < 1 || port > 65_535)) return 'has a port that does not exist.';
  return IS_RANGE.test(host)
    ? rangeRule(host.replace(/[[\]]/g, ''), port)
    : nameRule(host.toLowerCase(), port);
}

function rangeRule(text: string, port: number | null): EgressRule | string {
  const range = parseRange(text);
  if (!range) return 'has an address or a range that cannot be read.';
  if (isMetadataRange(range)) return 'is a metadata address, which stays closed.';
  return { range, name: null, port };
}

function nameRule(name: string, port: number | null): EgressRule | string {
  if (!NAME.test(name)) return 'has a host name that cannot be read.';
  if (isMetadataName(name)) return 'is a metadata address, which stays closed.';
  return { range: null, name, port };
}

function parseRange(text: string): AddressRange | null {
  const [base = '', bits, ...rest] = text.split('/');
  const address = parseAddress(base);
  if (!address || rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return null;
  const width = address instanceof ipaddr.IPv4 ? 32 : 128;
  const length = bits === undefined ? width : Number(bits);
  // The prefix length of a mapped address includes the 96 bits before it, which is hardly intended, so it is refused as too long.
  return length > width ? null : [address, length];
}
