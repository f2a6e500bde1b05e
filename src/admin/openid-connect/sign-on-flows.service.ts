import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, type Repository } from 'typeorm';
import { SecretBox } from '../../common/crypto/envelope.js';
import { OpaqueTokens, type TokenPurpose } from '../../common/crypto/opaque-tokens.js';
import { isUniqueViolation } from '../../database/sessions/database-errors.js';
import { UsedToken } from './used-token.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { SignOnCookie } from '../../common/http/session-cookie.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import type { SignOnSecrets } from './provider-client.service.js';

const RANDOM_BYTES = 32;
export const FLOW_LASTS_MS = 10 * 60_000;

/** A sign-in in progress at a provider. */
export interface SignOnFlow extends SignOnSecrets {
  readonly organizationId: string;
  readonly providerId: string;
  /** A path within the dashboard. */
  readonly returnTo: string;
  readonly expiresAt: number;
}

const random = (): string => randomBytes(RANDOM_BYTES).toString('base64url');

export const newSecrets = (prefix = ''): SignOnSecrets => ({
  ...{ state: prefix + random(), nonce: random(), verifier: random() },
});

/**
 * Sign-ins in progress are stored in a sealed cookie of the browser, bound to their state: starting one stores nothing here, so no
 * permission is needed. Only used states are stored, until they would have expired, so that none can be used twice.
 */
@Injectable()
export class SignOnFlows {
  constructor(
    @InjectRepository(UsedToken) private readonly used: Repository<UsedToken>,
    private readonly box: SecretBox,
    private readonly tokens: OpaqueTokens,
    private readonly cookie: SignOnCookie,
  ) {}

  /** `Set-Cookie` that binds the flow to the browser. */
  cookieOf(flow: SignOnFlow): string {
    const { organizationId, state, ...rest } = flow;
    const sealed = this.box.sealBytes(organizationId, purposeOf(state), Buffer.from(JSON.stringify(rest)));
    return this.cookie.write(`${organizationId}.${sealed.toString('base64url')}`, FLOW_LASTS_MS / 1_000);
  }

  get clearedCookie(): string {
    return this.cookie.clear();
  }

  /** The flow that this browser started with this state, once. Refuses with `sso_state_invalid`. */
  async take(cookies: string | undefined, state: string): Promise<SignOnFlow> {
    const flow = this.open(this.cookie.read(cookies), state);
    if (!flow || flow.expiresAt < Date.now()) throw new AppError('sso_state_invalid');
    if (!(await this.useUp('sign-on state', state, flow.expiresAt))) throw new AppError('sso_state_invalid');
    return flow;
  }

  /** False for a token that was used before, in any process. */
  async useUp(purpose: TokenPurpose, token: string, expiresAt: number): Promise<boolean> {
    await this.used.delete({ expiresAt: LessThan(new Date()) });
    try {
      await this.used.insert({
        tokenHash: this.tokens.hashOf(purpose, token),
        expiresAt: new Date(expiresAt),
      });
      return true;
    } catch (error) {
      if (isUniqueViolation(error)) return false;
      throw error;
    }
  }

  private open(value: string | null, state: string): SignOnFlow | null {
    const [organizationId = '', sealed = ''] = value?.split('.') ?? [];
    if (!isUuid(organizationId)) return null;
    try {
      const clear = this.box.openBytes(organizationId, purposeOf(state), Buffer.from(sealed, 'base64url'));
      return { ...(JSON.parse(clear.toString('utf8')) as SignOnFlow), organizationId, state };
    } catch {
      return null;
    }
  }
}

const purposeOf = (state: string): string[] => ['sign-on flow', state];
