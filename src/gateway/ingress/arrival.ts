import type { IdentityService } from '../../auth/identity/identity.service.js';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import { refuseMistypedPath } from './mistyped-path.js';
import type { Exchange } from '../recording/exchange.js';
import { checkLoop } from '../upstream/request-headers.js';
import { type GatewayHeaders, readGatewayHeaders } from '../types/gateway-headers.js';

/** The scope that allows model requests. */
const SCOPE = 'completions.write';

const ADMIN_KEY = `admin keys cannot call models. Use a workspace API key with the scope ${SCOPE}`;

/** A user with access to every workspace: usage must be counted in one of them. */
const NO_WORKSPACE = 'models are called for a workspace, so the token must name one';

/** Authenticates the caller and checks its access. Records the caller, also of a refused request. */
export async function identified(
  identity: IdentityService,
  { request, entry, credential }: Exchange,
): Promise<Principal> {
  const found = identity.identify(request, credential);
  const caller = found instanceof Promise ? await found : found;
  entry.identified(caller, credential.secret);
  if (!mayCallModels(caller)) refuseMistypedPath(request, caller);
  checkCaller(caller);
  return caller;
}

const mayCallModels = ({ scopes, workspaceId }: Principal): boolean =>
  scopes.has(SCOPE) && workspaceId !== null;

/** Throws `forbidden` if the caller may not send model requests. */
export function checkCaller({ kind, scopes, workspaceId }: Principal): void {
  if (!scopes.has(SCOPE))
    throw new AppError('forbidden', {
      detail: kind === 'admin_key' ? ADMIN_KEY : `it lacks the scope ${SCOPE}`,
    });
  if (workspaceId === null) throw new AppError('forbidden', { detail: NO_WORKSPACE });
}

/** The request's gateway options, with the metadata that its workspace sets on every request. */
export function asked({ request, entry }: Exchange, { metadata }: Principal): GatewayHeaders {
  const own = readGatewayHeaders(request.headers);
  const options = metadata ? { ...own, metadata: { ...own.metadata, ...metadata } } : own;
  entry.asks(options);
  checkLoop(request.headers);
  return options;
}
