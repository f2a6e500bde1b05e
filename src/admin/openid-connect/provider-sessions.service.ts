import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, In, type Repository } from 'typeorm';
import { SecretBox } from '../../common/crypto/envelope.js';
import { SingleSignOnSession } from '../sessions/single-sign-on-session.entity.js';
import type { IdentityProvider } from '../sign-in-policy/identity-provider.entity.js';
import { Organization } from '../tenancy/organization.entity.js';
import { Session } from '../sessions/session.entity.js';
import { isWebAddress } from './web-address.js';
import type { DirectoryAnswer } from './provider-client.service.js';

/** The sessions that a logout token names: by the provider's session, its account, or both. */
export interface ProviderSession {
  readonly subject: string | undefined;
  readonly providerSessionId: string | undefined;
}

/** The dashboard sessions opened through identity providers. */
@Injectable()
export class ProviderSessionsService {
  constructor(
    @InjectRepository(SingleSignOnSession) private readonly signOns: Repository<SingleSignOnSession>,
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly box: SecretBox,
  ) {}

  async note(session: Session, { id: providerId }: IdentityProvider, answer: DirectoryAnswer): Promise<void> {
    const { organizationId } = session;
    const clear = Buffer.from(answer.idToken, 'utf8');
    await this.signOns.insert({
      ...{ sessionId: session.id, organizationId, providerId, subject: answer.subject },
      providerSessionId: answer.providerSessionId,
      endSessionEndpoint: answer.endSessionEndpoint,
      sealedIdToken: this.box.sealOwn(await this.keyOf(organizationId), purposeOf(session.id), clear),
    });
  }

  /** Address to sign the browser out at the provider as well; null without one. */
  async endSessionUrl(sessionId: string, backTo: string): Promise<string | null> {
    const signOn = await this.signOns.findOneBy({ sessionId });
    if (!signOn || !isWebAddress(signOn.endSessionEndpoint)) return null;
    const { organizationId, sealedIdToken } = signOn;
    const idToken = this.box.openOwn(await this.keyOf(organizationId), purposeOf(sessionId), sealedIdToken);
    const url = new URL(signOn.endSessionEndpoint);
    url.searchParams.set('id_token_hint', idToken.toString('utf8'));
    url.searchParams.set('post_logout_redirect_uri', backTo);
    return url.href;
  }

  /** Returns the users whose sessions it ended. */
  async end(
    { id: providerId, organizationId }: IdentityProvider,
    { subject, providerSessionId }: ProviderSession,
  ): Promise<readonly string[]> {
    return this.endWhere({
      ...{ providerId, organizationId },
      ...(subject === undefined ? {} : { subject }),
      ...(providerSessionId === undefined ? {} : { providerSessionId }),
    });
  }

  async endAllOf({ id: providerId, organizationId }: IdentityProvider): Promise<void> {
    await this.endWhere({ providerId, organizationId });
  }

  private async endWhere(where: FindOptionsWhere<SingleSignOnSession>): Promise<readonly string[]> {
    const ids = (await this.signOns.findBy(where)).map(({ sessionId }) => sessionId);
    if (ids.length === 0) return [];
    const ended = await this.sessions.findBy({ id: In(ids) });
    await this.sessions.delete({ id: In(ids) });
    return [...new Set(ended.map(({ userId }) => userId))];
  }

  private async keyOf(organizationId: string) {
    const { wrappedKey } = await this.organizations.findOneByOrFail({ id: organizationId });
    return { organizationId, wrapped: wrappedKey };
  }
}

const purposeOf = (sessionId: string): string[] => ['ID token', sessionId];
