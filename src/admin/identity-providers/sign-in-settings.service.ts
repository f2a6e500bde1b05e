import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Not, type Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { IdentityProvider } from '../../common/database/entities/identity-provider.entity.js';
import { Session } from '../../common/database/entities/session.entity.js';
import { SignInPolicy } from '../../common/database/entities/sign-in-policy.entity.js';
import { UserCredential } from '../../common/database/entities/user-credential.entity.js';
import { User } from '../../common/database/entities/user.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { PeopleService } from '../users/people.service.js';
import { IdentityProvidersService } from './identity-providers.service.js';

export interface SignInSettings {
  readonly single_sign_on_required: boolean;
  readonly break_glass_user_ids: readonly string[];
}

/** Whether users of an organization must come from its identity providers. */
@Injectable()
export class SignInSettingsService {
  constructor(
    @InjectRepository(SignInPolicy) private readonly policies: Repository<SignInPolicy>,
    @InjectRepository(IdentityProvider) private readonly providers: Repository<IdentityProvider>,
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(UserCredential) private readonly credentials: Repository<UserCredential>,
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly rooms: IdentityProvidersService,
    private readonly people: PeopleService,
    private readonly audit: AuditTrail,
  ) {}

  async get(organizationId: string): Promise<SignInSettings> {
    const policy = await this.policies.findOneBy({ organizationId });
    return {
      single_sign_on_required: policy?.isSingleSignOnRequired ?? false,
      break_glass_user_ids: policy?.breakGlassUserIds ?? [],
    };
  }

  /** Once single sign-on is required, the sessions that came in other ways end, but for those of break-glass owners. */
  async set(caller: Principal, wanted: SignInSettings): Promise<SignInSettings> {
    const { organizationId } = caller;
    await this.people.takeTurn(organizationId);
    await this.rooms.checkOwner(caller);
    const before = await this.get(organizationId);
    const isRequired = wanted.single_sign_on_required;
    const ids = wanted.break_glass_user_ids.map((id) => id.toLowerCase());
    await this.checkOwners(organizationId, ids);
    if (isRequired) await this.checkWayIn(organizationId, ids);
    await this.policies.upsert(
      { organizationId, isSingleSignOnRequired: isRequired, breakGlassUserIds: ids },
      ['organizationId'],
    );
    if (isRequired)
      await this.sessions.delete({ organizationId, method: Not('single_sign_on'), userId: Not(In(ids)) });
    const after = await this.get(organizationId);
    this.audit.note({ targetId: organizationId, workspaceId: null, before, after });
    return after;
  }

  private async checkOwners(organizationId: string, ids: readonly string[]): Promise<void> {
    const owners = await this.users.findBy({
      organizationId,
      id: In([...ids]),
      role: 'owner',
      status: 'active',
    });
    if (owners.length < ids.length)
      throw new AppError('invalid_request', {
        detail:
          'The field "break_glass_user_ids" is not acceptable: each must be an active owner of the organization.',
      });
  }

  /** A provider that is down, or set up wrongly, must not lock the organization out. */
  private async checkWayIn(organizationId: string, ids: readonly string[]): Promise<void> {
    if ((await this.providers.countBy({ organizationId, isEnabled: true })) === 0)
      throw new AppError('conflict', {
        detail: 'Add an identity provider before you require single sign-on.',
      });
    const credentials = await this.credentials.findBy({ organizationId, userId: In([...ids]) });
    if (!credentials.some(({ passwordHash }) => passwordHash !== null))
      throw new AppError('conflict', {
        detail: 'Name an owner with a password in "break_glass_user_ids" before you require single sign-on.',
      });
  }
}
