import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { type Address, type AddressRange, isWithin, parseAddress } from '../net/address-classes.js';
import { Secret } from './secret.js';

const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const withScheme = (value: unknown): unknown =>
  typeof value === 'string' && !HAS_SCHEME.test(value) ? `http://${value}` : value;

const proxy = (description: string) =>
  z
    .preprocess(
      withScheme,
      z
        .url({ protocol: /^https?$/, error: 'it must be http://user:password@host:port, or https://…' })
        .optional(),
    )
    .describe(description);

/** The usual names, which other programs read too: https://curl.se/docs/manpage.html#ENVIRONMENT */
export const proxySettings = {
  HTTPS_PROXY: proxy(
    'Outbound proxy for https addresses, also in lower case (docs/outbound-proxy.md). Default: none.',
  ),
  HTTP_PROXY: proxy('Outbound proxy for http addresses, also in lower case. Default: none.'),
  NO_PROXY: z
    .string()
    .default('')
    .describe(
      'Hosts without outbound proxy, comma-separated, also in lower case: name, .suffix, address, CIDR, each with or without :port, or *.',
    ),
};

/** The outbound proxies, and who is reached without them. */
export interface ProxySettings {
  /** By the scheme of the destination. */
  readonly https: Secret | null;
  readonly http: Secret | null;
  readonly exceptions: readonly ProxyException[];
}

/** One entry of NO_PROXY. Exactly one of `range` and `name` is set. */
export interface ProxyException {
  readonly range: AddressRange | null;
  /** `*` is every host, `.example.com` only the names below, `example.com` that name and the names below. */
  readonly name: string | null;
  readonly port: number | null;
}

interface RawProxies {
  readonly HTTPS_PROXY?: string | undefined;
  readonly HTTP_PROXY?: string | undefined;
  readonly NO_PROXY: string;
}

export function proxiesOf({ HTTPS_PROXY: https, HTTP_PROXY: http, NO_PROXY }: RawProxies): ProxySettings {
  const secret = (url: string | undefined): Secret | null => (url === undefined ? null : new Secret(url));
  const exceptions = NO_PROXY.split(/[\s,]+/)
    .filter(Boolean)
    .map(exceptionOf);
  return { https: secret(https), http: secret(http), exceptions };
}

/** Values of the lower-case names where the upper-case ones are not set. */
export function lowerCaseProxies(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const names = Object.keys(proxySettings).filter((name) => !environment[name]);
  return Object.fromEntries(names.map((name) => [name, environment[name.toLowerCase()]]));
}

const WITH_PORT = /^(\[[^\]]+\](?:\/\d+)?|[^:]+):(\d{1,5})$/;

function exceptionOf(entry: string): ProxyException {
  const [, host = entry, port] = WITH_PORT.exec(entry) ?? [];
  const bare = host.replace(/[[\]]/g, '').toLowerCase();
  const range = rangeOf(bare);
  const name = range ? null : bare.replace(/^\*(?=\.)/, '');
  return { range, name, port: port === undefined ? null : Number(port) };
}

function rangeOf(text: string): AddressRange | null {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const address = parseAddress(text);
  return address && [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** Whether an entry of NO_PROXY covers a host. Ranges cover only hosts that are written as addresses: names are not looked up for it. */
export function isExcepted(
  { range, name, port }: ProxyException,
  destination: { readonly host: string; readonly port: number; readonly address: Address | null },
): boolean {
  if (port !== null && port !== destination.port) return false;
  if (range) return destination.address !== null && isWithin(destination.address, [range]);
  if (name === null || name === '*') return name === '*';
  return destination.host === name || destination.host.endsWith(name.startsWith('.') ? name : `.${name}`);
}
