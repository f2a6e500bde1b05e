import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../common/errors/app-error.js';

/** A page of another origin cannot set it without a preflight, which the gateway never allows. */
export const CSRF_HEADER = 'x-gateway-csrf';

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses with `csrf_rejected` a change that a page of another origin may have sent with the user's cookie. A change must have the header
 * and come from the same origin, by `Sec-Fetch-Site`, or by `Origin` in a browser that does not send it:
 * https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
 */
export function checkOrigin(
  { method, raw: { headers } }: FastifyRequest,
  publicUrl: string | undefined,
): void {
  if (SAFE.has(method)) return;
  if (headers[CSRF_HEADER] === undefined) throw rejected(`it must carry the header ${CSRF_HEADER}: 1`);
  const site = headers['sec-fetch-site'];
  const isOwn =
    publicUrl === undefined
      ? isFromSameOrigin(site, headers)
      : isFromPublicOrigin(site, headers.origin, new URL(publicUrl).origin);
  if (!isOwn) throw rejected('it must come from a page of this service');
}

/** The browser sets `Host` and `Origin`; a page cannot. */
function isFromSameOrigin(site: unknown, { origin, host }: IncomingHttpHeaders): boolean {
  if (site !== undefined) return site === 'same-origin';
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}

/**
 * A host name that resolves to this service makes a foreign page "same-origin" (DNS rebinding), and only `Origin` shows it. Browsers send it
 * with every change: https://fetch.spec.whatwg.org/#append-a-request-origin-header. `Host` is not compared: a proxy may rewrite it.
 */
function isFromPublicOrigin(site: unknown, origin: string | undefined, own: string): boolean {
  if (site !== undefined && site !== 'same-origin') return false;
  return origin === undefined ? site !== undefined : origin === own;
}

const rejected = (detail: string): AppError => new AppError('csrf_rejected', { detail });
