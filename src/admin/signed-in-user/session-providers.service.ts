import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { SingleSignOnSession } from '../sessions/single-sign-on-session.entity.js';
import { IdentityProvider } from '../sign-in-policy/identity-provider.entity.js';
import type { SessionProvider } from '../dto-fields/signed-in.dto.js';
import type { Session } from '../sessions/session.entity.js';

/** The identity providers of single sign-on sessions. */
@Injectable()
export class SessionProvidersService {
  constructor(
    @InjectRepository(SingleSignOnSession) private readonly signOns: Repository<SingleSignOnSession>,
    @InjectRepository(IdentityProvider) private readonly providers: Repository<IdentityProvider>,
  ) {}

  /** Null for other sessions, and while the provider is disabled. */
  async of({ id: sessionId, organizationId, method }: Session): Promise<SessionProvider | null> {
    if (method !== 'single_sign_on') return null;
    const signOn = await this.signOns.findOneBy({ sessionId });
    if (!signOn) return null;
    const provider = await this.providers.findOneBy({
      organizationId,
      id: signOn.providerId,
      isEnabled: true,
    });
    return provider && { id: provider.id, name: provider.name };
  }
}
