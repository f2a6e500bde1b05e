import type { ClientRequest } from '../../common/http/messages.js';
import { AppError } from '../../common/errors/app-error.js';

/** More header fields than this are refused; Node would drop the rest silently. */
export const HEADERS_MAX = 1_000;

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']);
const ALLOWED_METHODS = [...METHODS].join(', ');

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9._-]*[a-z0-9])?)(?::(?<port>\d{1,5}))?$/i;
const PORT_MAX = 65_535;
const ACCEPTED_HOSTS_MAX = 1_000;
const acceptedHosts = new Set<string>();

/**
 * Refuses requests that no valid client sends, before routing: on both planes, for every path. Node's parser has already refused broken
 * framing.
 */
export function checkHead(request: ClientRequest): void {
  const { rawHeaders, headers, url = '' } = request;
  if (rawHeaders.length >= 2 * HEADERS_MAX) throw new AppError('headers_too_large');
  if (!url.startsWith('/')) throw new AppError('path_invalid', { detail: 'it must begin with /' });
  if (url.includes('#')) throw new AppError('path_invalid', { detail: 'it must not have a fragment' });
  checkHost(headers.host, rawHeaders);
}

/** Refuses methods that are not forwarded, and bodies without a meaning. The administration checks the methods of its own paths. */
export function checkMethod(request: ClientRequest): void {
  const { method = '' } = request;
  if (!METHODS.has(method)) throw new AppError('method_not_allowed', { method, allowed: ALLOWED_METHODS });
  if ((method === 'GET' || method === 'HEAD') && hasBody(request))
    throw new AppError('body_not_allowed', { method });
}

function checkHost(host: string | undefined, rawHeaders: readonly string[]): void {
  if (countOf('host', rawHeaders) > 1) throw new AppError('header_duplicate', { header: 'host' });
  if (host !== undefined && acceptedHosts.has(host)) return;
  if (!isHost(host ?? ''))
    throw new AppError('header_invalid', {
      header: 'host',
      detail: 'it must be a host name or address, with a port or without',
    });
  if (acceptedHosts.size < ACCEPTED_HOSTS_MAX) acceptedHosts.add(host as string);
}

function isHost(text: string): boolean {
  const port = HOST.exec(text)?.groups?.port;
  return HOST.test(text) && Number(port ?? 0) <= PORT_MAX;
}

function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index] as string;
    if (field.length === name.length && field.toLowerCase() === name) count++;
  }
  return count;
}

export function hasBody({ headers }: ClientRequest): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** The announced size of the body in bytes; null if it is chunked. */
export function announcedSize({ headers }: ClientRequest): number | null {
  const length = headers['content-length'];
  return length === undefined ? null : Number(length);
}
