import { Injectable } from '@nestjs/common';
import type { IdentityProvider } from '../sign-in-policy/identity-provider.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { type Claims, unverifiedClaims } from '../../auth/tokens/compact-token.js';
import { ProviderClient } from '../openid-connect/provider-client.service.js';
import type { ProviderSession } from '../openid-connect/provider-sessions.service.js';
import { SavedProviders } from '../openid-connect/saved-providers.service.js';
import { SignInThrottle } from '../sign-in-policy/sign-in-throttle.service.js';
import { SignOnFlows } from '../openid-connect/sign-on-flows.service.js';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Longer than a token may be old. */
const REMEMBERED_MS = 15 * 60_000;

/** A verified logout token. */
export interface VerifiedLogout {
  readonly provider: IdentityProvider;
  readonly session: ProviderSession;
}

/** Reads the logout tokens of providers: https://openid.net/specs/openid-connect-backchannel-1_0.html */
@Injectable()
export class BackChannelLogoutService {
  constructor(
    private readonly providers: SavedProviders,
    private readonly client: ProviderClient,
    private readonly flows: SignOnFlows,
    private readonly throttle: SignInThrottle,
  ) {}

  /**
   * One per organization with the same client. Refuses with `logout_token_invalid`. Only tokens for a client of this installation are
   * counted. Call it outside a transaction: it calls the provider.
   */
  async verify(token: string, address: string): Promise<readonly VerifiedLogout[]> {
    const providers = await this.sendersOf(token);
    const attempt = { kind: 'backChannelLogout', address, subject: '' } as const;
    return this.throttle.counted(attempt, () => this.read(token, providers));
  }

  /** The providers that may have sent a token, by its unverified claims. */
  private async sendersOf(token: string): Promise<readonly IdentityProvider[]> {
    const { iss, aud } = unverifiedClaims(token) ?? {};
    const clientIds = [aud].flat().filter((each) => typeof each === 'string');
    const providers = typeof iss === 'string' ? await this.providers.issuedBy(iss, clientIds) : [];
    if (providers.length === 0) throw invalid('its issuer is no identity provider of this installation');
    return providers;
  }

  private async read(
    token: string,
    providers: readonly IdentityProvider[],
  ): Promise<readonly VerifiedLogout[]> {
    const verified: VerifiedLogout[] = [];
    for (const provider of providers)
      verified.push({ provider, session: sessionOf(await this.client.verifyLogoutToken(provider, token)) });
    const { iss, jti } = unverifiedClaims(token) ?? {};
    if (
      !(await this.flows.useUp('logout token', `${String(iss)} ${String(jti)}`, Date.now() + REMEMBERED_MS))
    )
      throw invalid('it was used before');
    return verified;
  }
}

function sessionOf({ events, nonce, sub, sid }: Claims): ProviderSession {
  const event = typeof events === 'object' && events !== null ? (events as Claims)[EVENT] : undefined;
  if (typeof event !== 'object' || event === null) throw invalid('its claim "events" names no logout');
  // ID tokens have a nonce, and must not pass as logout tokens.
  if (nonce !== undefined) throw invalid('it has a claim "nonce"');
  const [subject, providerSessionId] = [textOf(sub), textOf(sid)];
  if (subject === undefined && providerSessionId === undefined)
    throw invalid('it names neither "sub" nor "sid"');
  return { subject, providerSessionId };
}

const textOf = (claim: unknown): string | undefined =>
  typeof claim === 'string' && claim !== '' ? claim : undefined;

const invalid = (detail: string): AppError => new AppError('logout_token_invalid', { detail });
