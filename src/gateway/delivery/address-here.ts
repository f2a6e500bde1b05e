import type { ClientRequest } from '../../common/http/messages.js';
import type { TLSSocket } from 'node:tls';
import { UPLOAD_ROOTS } from '../ingress/front-door.js';
import { hostRoot } from '../../providers/upstream-path.js';
import type { Target } from '../types/target.js';

/**
 * Replaces the provider's address with the gateway's in a header that names where to upload a file's bytes: the client uploads them here
 * with its own key, and has none for the provider. Other addresses stay, because the gateway sends nothing there.
 */
export function nameUploadsHere(
  headers: string[],
  { provider: { uploadAddressHeader, paths }, origin, basePath }: Target,
  request: ClientRequest,
): void {
  if (uploadAddressHeader === undefined) return;
  const at = headers.findIndex(
    (name, index) => index % 2 === 0 && name.toLowerCase() === uploadAddressHeader,
  );
  const address = at < 0 ? undefined : headers[at + 1];
  const root = origin + hostRoot(basePath, paths);
  const here = addressHere(request);
  if (
    here !== null &&
    address !== undefined &&
    UPLOAD_ROOTS.some((uploads) => address.startsWith(root + uploads))
  )
    headers[at + 1] = here + address.slice(root.length);
}

/** Scheme and host by which the client reached the gateway; null if the request names no host. */
export function addressHere({ headers, socket }: ClientRequest): string | null {
  if (!headers.host) return null;
  // From the connection, or as reported by a proxy in front of the gateway.
  const isSecure = (socket as TLSSocket).encrypted || headers['x-forwarded-proto'] === 'https';
  return `${isSecure ? 'https' : 'http'}://${headers.host}`;
}
