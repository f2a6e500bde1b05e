import { parseDestination } from '../net/destination.js';
import type { SocketDestination } from '../net/destination-policy.js';
import { AppError } from '../errors/app-error.js';

/** Transports of syslog: https://www.rfc-editor.org/rfc/rfc5425 (TLS), 6587 (TCP) and 5426 (UDP). */
export type SyslogTransport = 'tls' | 'tcp' | 'udp';

/** A destination for audit records, parsed from its address. */
export type AuditTarget =
  | { readonly type: 'webhook'; readonly url: URL }
  | { readonly type: 'syslog'; readonly transport: SyslogTransport; readonly endpoint: SocketDestination };

const SYSLOG = /^(tls|tcp|udp):\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+):([1-9]\d{0,4})$/i;

/**
 * Parses `https://host/path` (a webhook), or `tls://host:port`, `tcp://host:port` and `udp://host:port` (syslog). Throws
 * `custom_host_invalid`. The egress checks whether the address is allowed.
 */
export function parseAuditTarget(text: string): AuditTarget {
  const [, scheme, host, port] = SYSLOG.exec(text) ?? [];
  if (scheme === undefined) {
    if (/^https?:/i.test(text)) return { type: 'webhook', url: parseDestination(text) };
    throw new AppError('custom_host_invalid', {
      detail: 'it must be https://host/path, or tls://, tcp:// or udp:// with host and port',
    });
  }
  // Parsed like any other address, so that no host has two interpretations.
  const { hostname } = parseDestination(`https://${host ?? ''}:${port ?? ''}`);
  const transport = scheme.toLowerCase() as SyslogTransport;
  return {
    type: 'syslog',
    transport,
    endpoint: {
      secure: transport === 'tls',
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port),
    },
  };
}

/** The purpose for which a destination's secret is sealed: it opens only for the same row and address. */
export function purposeOfAuditSecret({ id, url }: { readonly id: string; readonly url: string }): string[] {
  return ['audit destination', id, new URL(url).origin];
}
