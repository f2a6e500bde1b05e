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
    site === undefined ? isOwnOrigin(headers.origin, headers.host, publicUrl) : site === 'same-origin';
  if (!isOwn) throw rejected('it must come from a page of this service');
}

/** The browser sets `Host` and `Origin`; a page cannot. A proxy may rewrite `Host`, and then the public URL counts. */
function isOwnOrigin(
  origin: string | undefined,
  host: string | undefined,
  publicUrl: string | undefined,
): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { host: from } = new URL(origin);
  return from === host || (publicUrl !== undefined && origin === new URL(publicUrl).origin);
}

const rejected = (detail: string): AppError => new AppError('csrf_rejected', { detail });
