import { Injectable } from '@nestjs/common';
import { readCredential } from '../auth/identity/credentials.js';
import { IdentityService } from '../auth/identity/identity.service.js';
import type { Principal } from '../auth/principal.js';
import { AppError } from '../common/errors/app-error.js';
import type { Answer } from './attempt/answer.js';
import { TargetAttempts } from './attempt/attempt-target.js';
import type { IncomingRequest } from './attempt/incoming-request.js';
import { RequestAttempts } from './attempt/request-attempts.js';
import { refuseMistypedPath } from './ingress/mistyped-path.js';
import { checkNamedKey, checkTargets } from './planning/check-targets.js';
import { ConfigPlans } from './planning/config-plans.js';
import type { Exchange } from './recording/exchange.js';
import { exchangeBegan, exchangeEnded } from './recording/exchange-metrics.js';
import { Journal } from './recording/journal.js';
import { Router } from './routing/router.js';
import type { AttemptOutcome } from './types/attempt-outcome.js';
import { type ClientConnection, ClientSignal } from './types/cancellation.js';
import { type GatewayHeaders, readGatewayHeaders } from './types/gateway-headers.js';
import type { CompiledConfig } from './types/plan.js';
import { checkLoop } from './upstream/request-headers.js';

/** The scope that allows model requests. */
const SCOPE = 'completions.write';

const ADMIN_KEY = `admin keys cannot call models. Use a workspace API key with the scope ${SCOPE}`;

/** A user with access to every workspace: usage must be counted in one of them. */
const NO_WORKSPACE = 'models are called for a workspace, so the token must name one';

/** The steps that HTTP requests and WebSocket handshakes have in common, from their arrival to the provider's response. */
@Injectable()
export class RequestSteps {
  constructor(
    private readonly identity: IdentityService,
    private readonly configs: ConfigPlans,
    private readonly router: Router,
    private readonly attempts: TargetAttempts,
    private readonly journal: Journal,
  ) {}

  /** Begins an exchange, which ends when `connection` closes. */
  begin(
    { request, response, streams }: Pick<Exchange, 'request' | 'response' | 'streams'>,
    connection: ClientConnection,
  ): Exchange {
    const entry = this.journal.begin(request);
    const signal = new ClientSignal(request, connection);
    exchangeBegan();
    signal.onCancel(exchangeEnded);
    return { request, response, streams, entry, signal, credential: readCredential(request.headers) };
  }

  /** Authenticates the caller and checks its access. Records the caller, also of a refused request. */
  async authenticate({ request, entry, credential }: Exchange): Promise<Principal> {
    const caller = await this.identity.identify(request, credential);
    entry.identified(caller, credential.secret);
    if (!mayCallModels(caller)) refuseMistypedPath(request, caller);
    checkCaller(caller);
    return caller;
  }

  /** Repeats the authentication of an exchange that runs for long. */
  identifyAgain({ request, credential }: Exchange): Principal | Promise<Principal> {
    return this.identity.identify(request, credential);
  }

  /** Finds the config of the request. */
  async findConfig({ entry }: Exchange, caller: Principal, options: GatewayHeaders): Promise<CompiledConfig> {
    const config = await this.configs.find(caller, options.config);
    entry.goesBy(config.saved);
    checkNamedKey(config, options);
    return config;
  }

  /** Attempts the targets of the config until a response is accepted. */
  async route(incoming: IncomingRequest, config: CompiledConfig): Promise<AttemptOutcome<Answer>> {
    const { entry } = incoming.exchange;
    const attempts = new RequestAttempts(this.attempts, incoming);
    entry.follows(attempts.trail);
    checkTargets(config, entry.endpoint);
    const { outcome, decisions } = await this.router.route(config.plan, attempts, attempts);
    entry.routed(outcome.trail, decisions);
    return outcome;
  }
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
export function readOptions({ request, entry }: Exchange, { metadata }: Principal): GatewayHeaders {
  const own = readGatewayHeaders(request.headers);
  const options = metadata ? { ...own, metadata: { ...own.metadata, ...metadata } } : own;
  entry.asks(options);
  checkLoop(request.headers);
  return options;
}
