import { Injectable } from '@nestjs/common';
import { parameterError } from '../../common/errors/field-errors.js';
import { ProviderClient } from '../openid-connect/provider-client.service.js';
import { SavedProviders } from '../openid-connect/saved-providers.service.js';
import { FLOW_LASTS_MS, newSecrets, SignOnFlows } from '../openid-connect/sign-on-flows.service.js';
import type { StartSignOnQuery } from './start-sign-on.dto.js';

/** The start page of the dashboard, where a sign-in ends by default. */
const DASHBOARD_PATH = '/ui/';
const LONGEST_PATH = 2_000;
const NO_HOST = 'http://own.invalid';

export interface StartedSignOn {
  /** At the provider. */
  readonly url: string;
  /** `Set-Cookie` that binds the sign-in to the browser. */
  readonly cookie: string;
}

/** Starts a sign-in at the provider in the link. Calls the provider, so no transaction may be open. */
@Injectable()
export class SignOnStartService {
  constructor(
    private readonly providers: SavedProviders,
    private readonly client: ProviderClient,
    private readonly flows: SignOnFlows,
  ) {}

  /** Refuses with `not_found` a provider that is unknown or disabled, and rejects with `sso_provider_unavailable`. */
  async start(query: StartSignOnQuery): Promise<StartedSignOn> {
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
    return { url, cookie };
  }
}

/** Whether the path is within the dashboard. */
function isDashboardPath(text: string): boolean {
  if (text.length > LONGEST_PATH || !/^\/ui(?:[/?#]|$)/.test(text) || /[\\\s\p{Cc}]/u.test(text))
    return false;
  if (!URL.canParse(text, NO_HOST)) return false;
  const { origin, pathname } = new URL(text, NO_HOST);
  return origin === NO_HOST && (pathname === '/ui' || pathname.startsWith(DASHBOARD_PATH));
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
