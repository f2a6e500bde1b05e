import type { ClientRequest } from '../../common/fast-path/messages.js';
import type { TLSSocket } from 'node:tls';
import { UPLOAD_ROOT } from '../door/front-door.js';
import type { Target } from '../types/target.js';

/**
 * Puts the gateway's own address in the place of the provider's, where an answer says where the bytes of a file are to be sent: the
 * client sends them here, with its own key, and has none for the provider. An address elsewhere stays as it is, because the gateway
 * sends nothing there.
 */
export function nameUploadsHere(
  headers: string[],
  { provider: { uploads }, origin, basePath }: Target,
  request: ClientRequest,
): void {
  if (!uploads) return;
  const at = headers.findIndex(
    (name, index) => index % 2 === 0 && name.toLowerCase() === uploads.addressHeader,
  );
  const address = at < 0 ? undefined : headers[at + 1];
  const root = `${origin}${uploads.prefix}${basePath}/`;
  const { host } = request.headers;
  if (host && address?.startsWith(root))
    headers[at + 1] = `${schemeOf(request)}://${host}${UPLOAD_ROOT}${address.slice(root.length)}`;
}

/** As the client came, or as a proxy before us says that it did. */
function schemeOf({ headers, socket }: ClientRequest): 'http' | 'https' {
  const isSecure = (socket as TLSSocket).encrypted || headers['x-forwarded-proto'] === 'https';
  return isSecure ? 'https' : 'http';
}
