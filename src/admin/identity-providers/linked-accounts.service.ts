import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { type IdentityProvider, UserIdentity } from '../sign-in-policy/identity-provider.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { PeopleService } from '../users/people.service.js';
import { ProviderSessionsService } from '../openid-connect/provider-sessions.service.js';
import { SavedProviders } from '../openid-connect/saved-providers.service.js';

/** Links between provider accounts and users. */
@Injectable()
export class LinkedAccountsService {
  constructor(
    @InjectRepository(UserIdentity) private readonly identities: Repository<UserIdentity>,
    private readonly providers: SavedProviders,
    private readonly sessions: ProviderSessionsService,
    private readonly people: PeopleService,
    private readonly audit: AuditTrail,
  ) {}

  /** Allows a user to be linked to another account of the provider. */
  async unlink(caller: Principal, id: string, userId: string): Promise<void> {
    const { id: providerId } = await this.providers.find(caller.organizationId, id);
    await this.people.checkMayChangeSignIn(caller);
    const user = await this.people.find(caller.organizationId, userId);
    const { affected } = await this.identities.delete({ providerId, userId: user.id });
    if (!affected) throw new AppError('not_found', { resource: 'account of this user' });
    this.audit.note({ targetId: user.id, workspaceId: null });
  }

  /** After the accounts of a provider changed: users are linked again by email address. */
  async unlinkAllOf(provider: IdentityProvider): Promise<void> {
    await this.identities.delete({ providerId: provider.id });
    await this.sessions.endAllOf(provider);
  }

  /** For a provider that users can no longer use. They stay linked. */
  async signOutAllOf(provider: IdentityProvider): Promise<void> {
    await this.sessions.endAllOf(provider);
  }
}
