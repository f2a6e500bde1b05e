import { presentedKey } from '../../auth/identity/credentials.js';
import type { IdentityService } from '../../auth/identity/identity.service.js';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import { refuseMistypedPath } from './mistyped-path.js';
import type { ClientRequest } from '../../common/http/messages.js';
import type { Exchange } from '../recording/exchange.js';
import { withFacts } from '../types/exchange-facts.js';
import { sessionInBody } from '../types/client-session.js';
import type { ReadRequest } from '../types/content.js';
import { readGatewayHeaders } from '../types/gateway-headers.js';

/** The scope that allows model requests. */
const SCOPE = 'completions.write';

const ADMIN_KEY = `admin keys cannot call models. Use a workspace API key with the scope ${SCOPE}`;

/** A user with access to every workspace: usage must be counted in one of them. */
const NO_WORKSPACE = 'models are called for a workspace, so the token must name one';

/** Authenticates the caller, who may still be refused: the record names it all the same. */
export async function authenticate<E extends Exchange>(
  identity: IdentityService,
  exchange: E,
): Promise<{ readonly caller: Principal; readonly exchange: E }> {
  const { request } = exchange;
  const found = identity.identify(request);
  const caller = found instanceof Promise ? await found : found;
  const gatewayKey = presentedKey(request.headers);
  return { caller, exchange: withFacts(exchange, { caller, gatewayKey }) };
}

/** Throws `forbidden` if the caller may not send model requests, and `not_found` for a path that was meant for another purpose. */
export function checkAccess(request: ClientRequest, caller: Principal): void {
  if (!mayCallModels(caller)) refuseMistypedPath(request, caller);
  checkCaller(caller);
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

/** The exchange with the request's gateway options, and the metadata that its workspace sets on every request. */
export function withOptions<E extends Exchange>(exchange: E, { metadata }: Principal): E {
  const own = readGatewayHeaders(exchange.request.headers);
  const options = metadata ? { ...own, metadata: { ...own.metadata, ...metadata } } : own;
  return withFacts(exchange, { options, traceId: options.traceId ?? exchange.facts.id });
}

/** The exchange with the session of the client's own that its body names, if the request has no trace id. */
export function withSession(exchange: Exchange, { json }: Pick<ReadRequest, 'json'>): Exchange {
  const session = json && exchange.facts.options.traceId === null ? sessionInBody(json) : null;
  return session === null ? exchange : withFacts(exchange, { traceId: session });
}
