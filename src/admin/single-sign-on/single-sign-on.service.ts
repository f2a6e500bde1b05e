import { Injectable } from '@nestjs/common';
import type { User } from '../tenancy/user.entity.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { SessionsService, type SignInOrigin } from '../sessions/sessions.service.js';
import { type OpenedSignIn, SignInService } from '../sign-in/sign-in.service.js';
import type { VerifiedSignOn } from './provisioning.service.js';
import { ProviderSessionsService } from '../openid-connect/provider-sessions.service.js';

/** Signs in users that a provider has authenticated. */
@Injectable()
export class SingleSignOnService {
  constructor(
    private readonly signIns: SignInService,
    private readonly sessions: SessionsService,
    private readonly providerSessions: ProviderSessionsService,
    private readonly audit: AuditTrail,
  ) {}

  async open(user: User, { provider, answer }: VerifiedSignOn, origin: SignInOrigin): Promise<OpenedSignIn> {
    const opened = await this.signIns.open(user, 'single_sign_on', origin);
    if (answer.authenticatedAt && answer.authenticatedAt < opened.session.authenticatedAt)
      await this.sessions.noteProof(opened.session, answer.authenticatedAt);
    await this.providerSessions.note(opened.session, provider, answer);
    this.audit.note({ targetId: opened.session.id });
    return opened;
  }
}
