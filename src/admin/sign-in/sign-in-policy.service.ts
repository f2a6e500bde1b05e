import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { SignInPolicy } from './sign-in-policy.entity.js';
import type { User } from '../tenancy/user.entity.js';
import { AppError } from '../../common/errors/app-error.js';

/** Decides which users may sign in with a password, a link or a passkey if the organization has an identity provider. */
@Injectable()
export class SignInPolicyService {
  constructor(@InjectRepository(SignInPolicy) private readonly policies: Repository<SignInPolicy>) {}

  /** Null for an organization without restrictions. */
  find(organizationId: string): Promise<SignInPolicy | null> {
    return this.policies.findOneBy({ organizationId });
  }

  /** Refuses with `single_sign_on_required` a user who must use the identity provider. */
  async checkOpenTo({
    organizationId,
    id,
    role,
  }: Pick<User, 'organizationId' | 'id' | 'role'>): Promise<void> {
    const policy = await this.find(organizationId);
    if (!policy?.isSingleSignOnRequired) return;
    if (role !== 'owner' || !policy.breakGlassUserIds.includes(id))
      throw new AppError('single_sign_on_required');
  }

  /** The same for a user who is being created. */
  async checkPasswordsIn(organizationId: string): Promise<void> {
    const policy = await this.find(organizationId);
    if (policy?.isSingleSignOnRequired) throw new AppError('single_sign_on_required');
  }
}
