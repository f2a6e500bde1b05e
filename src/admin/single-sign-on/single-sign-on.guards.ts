import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { User } from '../tenancy/user.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { SignInThrottle } from '../sign-in-policy/sign-in-throttle.service.js';
import { ProvisioningService, type VerifiedSignOn } from './provisioning.service.js';
import { BackChannelLogoutService, type VerifiedLogout } from './back-channel-logout.service.js';
import { type DirectoryAnswer, ProviderClient } from '../openid-connect/provider-client.service.js';
import { SavedProviders } from '../openid-connect/saved-providers.service.js';
import { StartSignOnQuery } from './start-sign-on.dto.js';
import { readQuery } from '../http/read-query.js';
import { type OpenTrial, SignInTrialsService } from '../identity-providers/sign-in-trials.service.js';
import { isTrial } from '../identity-providers/trial-drafts.service.js';
import { FLOW_LASTS_MS, newSecrets, SignOnFlows } from '../openid-connect/sign-on-flows.service.js';
import { parameterError } from '../../common/errors/field-errors.js';

/**
 * Guards call the providers, because they run before the request's transaction begins: no transaction is open during a slow call, and a
 * state stays used whatever the outcome.
 */

export interface StartedSignOn {
  readonly url: string;
  readonly cookie: string;
}

export interface AnsweredSignOn extends VerifiedSignOn {
  readonly user: User;
  readonly returnTo: string;
}

export interface AnsweredTrial {
  readonly trial: OpenTrial;
  readonly outcome: DirectoryAnswer | AppError;
}

const STARTED = new WeakMap<object, StartedSignOn>();
const ANSWERED = new WeakMap<object, AnsweredSignOn | AnsweredTrial>();
const LOGOUTS = new WeakMap<object, readonly VerifiedLogout[]>();

const kept = <T>(found: T | undefined): T => {
  if (found === undefined) throw new Error('The answer was asked for before its guard had run.');
  return found;
};
export const startedIn = (request: object): StartedSignOn => kept(STARTED.get(request));
export const answeredIn = (request: object): AnsweredSignOn | AnsweredTrial => kept(ANSWERED.get(request));
export const logoutsIn = (request: object): readonly VerifiedLogout[] => kept(LOGOUTS.get(request));

type Query = Readonly<Record<string, string | string[] | undefined>>;

/** The start page of the dashboard, where a sign-in ends by default. */
const DASHBOARD_PATH = '/ui/';
const LONGEST_PATH = 2_000;
const NO_HOST = 'http://own.invalid';

/** Whether the path is within the dashboard. */
function isDashboardPath(text: string): boolean {
  if (text.length > LONGEST_PATH || !/^\/ui(?:[/?#]|$)/.test(text) || /[\\\s\p{Cc}]/u.test(text))
    return false;
  if (!URL.canParse(text, NO_HOST)) return false;
  const { origin, pathname } = new URL(text, NO_HOST);
  return origin === NO_HOST && (pathname === '/ui' || pathname.startsWith(DASHBOARD_PATH));
}

const requestIn = (context: ExecutionContext): FastifyRequest =>
  context.switchToHttp().getRequest<FastifyRequest>();

function textIn(request: FastifyRequest, name: string): string | undefined {
  const value = (request.query as Query)[name];
  return typeof value === 'string' ? value : undefined;
}

function promptOf(query: StartSignOnQuery): { readonly prompt?: 'login' | 'select_account' } {
  if (query.reauthenticate === 'true') return { prompt: 'login' };
  return query.select_account === 'true' ? { prompt: 'select_account' } : {};
}

const HINT = /^[^\s@]{1,64}@[^\s@]{1,255}$/;

/** Only an address: the parameter comes from a link that anyone can write. */
function hintIn({ login_hint: hint }: StartSignOnQuery): string | undefined {
  return hint !== undefined && HINT.test(hint) ? hint : undefined;
}

/** Starts a sign-in at the provider in the link. */
@Injectable()
export class StartGuard implements CanActivate {
  constructor(
    private readonly providers: SavedProviders,
    private readonly client: ProviderClient,
    private readonly flows: SignOnFlows,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const request = requestIn(context);
    const query = readQuery(request.query as object, StartSignOnQuery);
    const returnTo = query.return_to ?? DASHBOARD_PATH;
    if (!isDashboardPath(returnTo)) throw parameterError('return_to', 'must be a path below /ui');
    const row = await this.providers.usable(query.provider ?? '');
    const secrets = newSecrets();
    const url = await this.client.authorizationUrl(await this.providers.opened(row), secrets, {
      redirectUri: this.providers.addresses.callback(row.id),
      ...promptOf(query),
      loginHint: hintIn(query),
    });
    const { organizationId, id: providerId } = row;
    const expiresAt = Date.now() + FLOW_LASTS_MS;
    const cookie = this.flows.cookieOf({ ...secrets, organizationId, providerId, returnTo, expiresAt });
    STARTED.set(request, { url, cookie });
    return true;
  }
}

/** Reads the parameters of the provider's redirect, and exchanges them for the user's claims. */
@Injectable()
export class CallbackGuard implements CanActivate {
  constructor(
    private readonly providers: SavedProviders,
    private readonly client: ProviderClient,
    private readonly flows: SignOnFlows,
    private readonly trials: SignInTrialsService,
    private readonly admissions: ProvisioningService,
    private readonly brakes: SignInThrottle,
    private readonly addresses: ClientAddresses,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const request = requestIn(context);
    const state = textIn(request, 'state') ?? '';
    ANSWERED.set(
      request,
      await (isTrial(state) ? this.ofTrial(request, state) : this.ofSignIn(request, state)),
    );
    return true;
  }

  /**
   * Only what belongs to a sign-in in progress is counted, and apart from passwords: any page can send a browser here, and without a state
   * that was issued there is nothing to guess. A failure stays counted.
   */
  private async counted<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
    const attempt = { way: 'singleSignOn', address: this.addresses.of(request.raw), subject: '' } as const;
    await this.brakes.count(attempt);
    const result = await work();
    await this.brakes.giveBack(attempt);
    return result;
  }

  private async ofSignIn(request: FastifyRequest, state: string): Promise<AnsweredSignOn> {
    const flow = await this.flows.take(request.raw.headers.cookie, state);
    return this.counted(request, async () => {
      const address = this.addressOf(request, flow.providerId);
      const provider = await this.providers.usable(flow.providerId);
      const opened = await this.providers.opened(provider);
      const answer = await this.client.exchange(opened, flow, address);
      const user = await this.admissions.admit({ provider, answer }, request);
      return { provider, answer, user, returnTo: flow.returnTo };
    });
  }

  private async ofTrial(request: FastifyRequest, state: string): Promise<AnsweredTrial> {
    const trial = await this.trials.open(state);
    return this.counted(request, async () => {
      const address = this.addressOf(request, trial.draft.redirectId);
      return { trial, outcome: await this.trials.exchange(trial, address) };
    });
  }

  /**
   * The complete URL that the provider redirected to. Each provider has a redirect URI of its own, so a code that arrives at another one
   * than the flow's was issued by another provider, and must not leave to the token endpoint of this one:
   * https://www.rfc-editor.org/rfc/rfc9700#section-4.4.2
   */
  private addressOf({ url, params }: FastifyRequest, providerId: string): URL {
    if ((params as { readonly provider?: string }).provider?.toLowerCase() !== providerId)
      throw new AppError('sso_response_invalid', {
        detail: 'it arrived at the redirect URI of another identity provider',
      });
    const address = new URL(this.providers.addresses.callback(providerId));
    address.search = url.slice(Math.max(url.indexOf('?'), 0));
    return address;
  }
}

/**
 * Checks a logout token. Providers send it from their servers. A form of a foreign page can post one, too, and is refused by the headers
 * that browsers add; only tokens for a client of this installation are counted.
 */
@Injectable()
export class LogoutTokenGuard implements CanActivate {
  constructor(
    private readonly logouts: BackChannelLogoutService,
    private readonly brakes: SignInThrottle,
    private readonly addresses: ClientAddresses,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const request = requestIn(context);
    const { logout_token: token } = (request.body ?? {}) as { readonly logout_token?: unknown };
    if (request.headers.origin !== undefined || request.headers['sec-fetch-site'] !== undefined)
      throw new AppError('logout_token_invalid', { detail: 'a browser sent it, not an identity provider' });
    if (typeof token !== 'string')
      throw new AppError('logout_token_invalid', { detail: 'the field "logout_token" is missing' });
    const senders = await this.logouts.sendersOf(token);
    const address = this.addresses.of(request.raw);
    const attempt = { way: 'backChannelLogout', address, subject: '' } as const;
    await this.brakes.count(attempt);
    LOGOUTS.set(request, await this.logouts.read(token, senders));
    await this.brakes.giveBack(attempt);
    return true;
  }
}
