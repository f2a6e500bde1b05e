import { Injectable } from '@nestjs/common';
import { createRemoteJWKSet, customFetch } from 'jose/jwks/remote';
import { jwtVerify } from 'jose/jwt/verify';
import { LRUCache } from 'lru-cache';
import type { Configuration, IDToken, ServerMetadata } from 'openid-client';
import type { Secret } from '../../common/settings/secret.js';
import { Egress } from '../../egress/egress.js';
import { AppError } from '../../common/errors/app-error.js';
import { SIGNATURE_ALGORITHMS } from '../../common/contracts/signature-algorithms.js';
import type { Claims } from '../../auth/tokens/compact-token.js';
import { egressFetch, TIMEOUT_MS } from './egress-fetch.js';
import { joinedClaims } from './joined-claims.js';
import { singleSignOnError, unavailable } from './provider-failures.js';
import { isWebAddress } from './web-address.js';

/** A large package, loaded only by processes that use single sign-on. */
const openId = () => import('openid-client');

const SKEW_SECONDS = 60;
const METADATA_MS = 5 * 60_000;
const FAILURE_MS = 5_000;
const MOST_REMEMBERED = 200;

/** The protocol settings of a provider. */
export interface OpenedProvider {
  readonly organizationId: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly scopes: readonly string[];
}

/** Binds a response of the provider to the sign-in that requested it. */
export interface SignOnSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The claims of a provider about the signed-in user. */
export interface DirectoryAnswer {
  readonly subject: string;
  readonly claims: Claims;
  readonly idToken: string;
  /** Time of the user's last authentication at the provider; null where it sends none. */
  readonly authenticatedAt: Date | null;
  readonly providerSessionId: string | null;
  readonly endSessionEndpoint: string | null;
}

/** Google refuses the standard value: https://developers.google.com/identity/openid-connect/openid-connect#re-consent */
const WITHOUT_PROMPT_LOGIN: ReadonlySet<string> = new Set(['https://accounts.google.com']);

interface AuthorizationOptions {
  readonly redirectUri: string;
  readonly prompt?: 'login' | 'select_account';
  readonly loginHint?: string | undefined;
}

/** The OpenID Connect client, the only user of `openid-client`: https://openid.net/specs/openid-connect-core-1_0.html */
@Injectable()
export class ProviderClient {
  private readonly known = new LRUCache<string, Promise<ServerMetadata>>({
    max: MOST_REMEMBERED,
    ttl: METADATA_MS,
  });

  constructor(private readonly egress: Egress) {}

  /**
   * Address at which the browser signs in. `prompt`: `login` authenticates the user even if they are signed in there, `select_account` lets
   * them choose another account. `loginHint`: the address that they entered here.
   * https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest
   */
  async authorizationUrl(
    provider: OpenedProvider,
    { state, nonce, verifier }: SignOnSecrets,
    { redirectUri, prompt, loginHint }: AuthorizationOptions,
  ): Promise<string> {
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await openId();
    const config = await this.configured(provider);
    return buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: provider.scopes.join(' '),
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(prompt === 'login' && { max_age: '0' }),
      ...(prompt && !(prompt === 'login' && WITHOUT_PROMPT_LOGIN.has(provider.issuer)) && { prompt }),
      ...(loginHint !== undefined && { login_hint: loginHint }),
    }).href;
  }

  /** `answer`: the complete URL that the provider redirected to. The ID token's signature is checked with fresh keys. */
  async exchange(
    provider: OpenedProvider,
    { state, nonce, verifier }: SignOnSecrets,
    answer: URL,
  ): Promise<DirectoryAnswer> {
    const { authorizationCodeGrant } = await openId();
    const config = await this.configured(provider);
    try {
      const tokens = await authorizationCodeGrant(config, answer, {
        ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier },
        idTokenExpected: true,
      });
      const idToken = tokens.claims();
      if (!idToken || tokens.id_token === undefined) throw new Error('The provider sent no ID token.');
      const more = await this.userInfo(config, idToken, tokens.access_token);
      return answerOf(
        joinedClaims(idToken, more),
        tokens.id_token,
        config.serverMetadata().end_session_endpoint,
      );
    } catch (error) {
      throw singleSignOnError(error);
    }
  }

  /** Reads the provider's metadata. Rejects with `sso_provider_unavailable`. */
  async discover(provider: Pick<OpenedProvider, 'organizationId' | 'issuer'>): Promise<ServerMetadata> {
    const key = `${provider.organizationId} ${provider.issuer}`;
    const known = this.known.get(key);
    if (known) return known;
    const metadata = this.fetchMetadata(provider);
    this.known.set(key, metadata);
    // A failure is cached briefly, so that not every sign-in calls the provider, and a repair takes effect soon.
    metadata.catch(() => this.known.set(key, metadata, { ttl: FAILURE_MS }));
    return metadata;
  }

  /**
   * The claims of a logout token: https://openid.net/specs/openid-connect-backchannel-1_0.html#Validation
   * Rejects with `logout_token_invalid`.
   */
  async verifyLogoutToken(
    provider: Pick<OpenedProvider, 'organizationId' | 'issuer' | 'clientId'>,
    token: string,
  ): Promise<Claims> {
    const { jwks_uri: address, issuer } = await this.discover(provider);
    if (address === undefined) throw unavailable('it publishes no keys');
    const keys = createRemoteJWKSet(new URL(address), {
      timeoutDuration: TIMEOUT_MS,
      [customFetch]: egressFetch(this.egress, provider.organizationId),
    });
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience: provider.clientId,
        algorithms: [...SIGNATURE_ALGORITHMS],
        clockTolerance: SKEW_SECONDS,
        maxTokenAge: METADATA_MS / 1_000,
        requiredClaims: ['iat', 'exp', 'jti', 'events'],
      });
      return payload;
    } catch (error) {
      const detail = error instanceof Error ? error.message : 'it cannot be read';
      throw new AppError('logout_token_invalid', { detail });
    }
  }

  private async configured(provider: OpenedProvider): Promise<Configuration> {
    const client = await openId();
    const metadata = await this.discover(provider);
    const secret = provider.clientSecret.reveal();
    const methods = metadata.token_endpoint_auth_methods_supported;
    const authentication =
      methods === undefined || methods.includes('client_secret_basic')
        ? client.ClientSecretBasic(secret)
        : client.ClientSecretPost(secret);
    const about = { client_secret: secret, [client.clockTolerance]: SKEW_SECONDS };
    const config = new client.Configuration(metadata, provider.clientId, about, authentication);
    config[client.customFetch] = egressFetch(this.egress, provider.organizationId);
    config.timeout = TIMEOUT_MS / 1_000;
    client.enableNonRepudiationChecks(config);
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- only if the operator allowed an address without TLS
    if (isInClear(provider.issuer)) client.allowInsecureRequests(config);
    return config;
  }

  private async fetchMetadata({
    organizationId,
    issuer,
  }: Pick<OpenedProvider, 'organizationId' | 'issuer'>): Promise<ServerMetadata> {
    const client = await openId();
    try {
      const config = await client.discovery(new URL(issuer), 'gatehouse', undefined, client.None(), {
        timeout: TIMEOUT_MS / 1_000,
        [client.customFetch]: egressFetch(this.egress, organizationId),
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- the same
        execute: isInClear(issuer) ? [client.allowInsecureRequests] : [],
      });
      return usableMetadata(config.serverMetadata());
    } catch (error) {
      throw unavailable(singleSignOnError(error).details['detail']);
    }
  }

  /** Providers may omit all claims but the subject from the ID token. */
  private async userInfo(config: Configuration, { sub }: IDToken, accessToken: string): Promise<Claims> {
    if (sub === '') throw new AppError('sso_response_invalid', { detail: 'its claim "sub" is empty' });
    if (config.serverMetadata().userinfo_endpoint === undefined) return {};
    const { fetchUserInfo } = await openId();
    return fetchUserInfo(config, accessToken, sub);
  }
}

/** Browsers are sent to these addresses, so another scheme would run as a script or open a program. */
function usableMetadata(metadata: ServerMetadata): ServerMetadata {
  const { authorization_endpoint: authorization, end_session_endpoint: endSession, ...rest } = metadata;
  if (!isWebAddress(authorization)) throw unavailable('its authorization endpoint is no http(s) address');
  return {
    ...rest,
    authorization_endpoint: authorization,
    ...(isWebAddress(endSession) ? { end_session_endpoint: endSession } : {}),
  };
}

const isInClear = (issuer: string): boolean => issuer.startsWith('http:');

function answerOf(claims: Claims, idToken: string, endSession: string | undefined): DirectoryAnswer {
  const { sub, auth_time: provedAt, sid } = claims;
  return {
    subject: String(sub),
    claims,
    idToken,
    authenticatedAt: typeof provedAt === 'number' ? new Date(provedAt * 1_000) : null,
    providerSessionId: typeof sid === 'string' ? sid : null,
    endSessionEndpoint: endSession ?? null,
  };
}
