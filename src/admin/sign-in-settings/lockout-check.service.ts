import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { IdentityProvider } from '../sign-in-policy/identity-provider.entity.js';
import { UserCredential } from '../passwords/user-credential.entity.js';
import { User } from '../tenancy/user.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { SignInPolicyService } from '../sign-in-policy/sign-in-policy.service.js';
import { invalidField } from '../../common/errors/field-errors.js';

/** Prevents organizations from locking themselves out. */
@Injectable()
export class LockoutCheckService {
  constructor(
    @InjectRepository(IdentityProvider) private readonly providers: Repository<IdentityProvider>,
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(UserCredential) private readonly credentials: Repository<UserCredential>,
    private readonly policy: SignInPolicyService,
  ) {}

  /** Call after disabling or removing a provider. Refuses with `conflict` if users depend on one and none is left. */
  async checkProviderLeft(organizationId: string): Promise<void> {
    const policy = await this.policy.find(organizationId);
    if (policy?.isSingleSignOnRequired && !(await this.hasProvider(organizationId)))
      throw new AppError('conflict', {
        detail: 'The organization requires single sign-on, and this is its last enabled identity provider.',
      });
  }

  async checkOwners(organizationId: string, ids: readonly string[]): Promise<void> {
    const owners = await this.users.findBy({
      organizationId,
      id: In([...ids]),
      role: 'owner',
      status: 'active',
    });
    if (owners.length < ids.length)
      throw invalidField('break_glass_user_ids', 'each must be an active owner of the organization');
  }

  /** A provider that is unavailable or misconfigured must not lock the organization out. */
  async checkMayRequire(organizationId: string, breakGlassUserIds: readonly string[]): Promise<void> {
    if (!(await this.hasProvider(organizationId)))
      throw new AppError('conflict', {
        detail: 'Add an identity provider before you require single sign-on.',
      });
    const credentials = await this.credentials.findBy({ organizationId, userId: In([...breakGlassUserIds]) });
    if (!credentials.some(({ passwordHash }) => passwordHash !== null))
      throw new AppError('conflict', {
        detail: 'Name an owner with a password in "break_glass_user_ids" before you require single sign-on.',
      });
  }

  private async hasProvider(organizationId: string): Promise<boolean> {
    return (await this.providers.countBy({ organizationId, isEnabled: true })) > 0;
  }
}
