import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { SignInPolicy } from './sign-in-policy.entity.js';
import type { KnownSession } from '../../auth/ports.js';
import { User } from '../tenancy/user.entity.js';
import { AppError } from '../../common/errors/app-error.js';

type PolicyUser = Pick<User, 'organizationId' | 'id' | 'role'>;

/** Decides which users may sign in with a password, a link or a passkey if the organization has an identity provider. */
@Injectable()
export class SignInPolicyService {
  constructor(
    @InjectRepository(SignInPolicy) private readonly policies: Repository<SignInPolicy>,
    @InjectRepository(User) private readonly users: Repository<User>,
  ) {}

  /** Null for an organization without restrictions. */
  find(organizationId: string): Promise<SignInPolicy | null> {
    return this.policies.findOneBy({ organizationId });
  }

  /** Whether passwords, links and passkeys count for the user. */
  async isOpenTo({ organizationId, id, role }: PolicyUser): Promise<boolean> {
    const policy = await this.find(organizationId);
    if (!policy?.isSingleSignOnRequired) return true;
    return role === 'owner' && policy.breakGlassUserIds.includes(id);
  }

  /** Refuses with `single_sign_on_required` a user who must use the identity provider. */
  async checkOpenTo(user: PolicyUser): Promise<void> {
    if (!(await this.isOpenTo(user))) throw new AppError('single_sign_on_required');
  }

  /** The same for the user of a session. */
  async checkSession({ organizationId, userId: id }: KnownSession): Promise<void> {
    await this.checkOpenTo(await this.users.findOneByOrFail({ organizationId, id }));
  }

  /** The same for a user who is being created. */
  async checkPasswordsIn(organizationId: string): Promise<void> {
    const policy = await this.find(organizationId);
    if (policy?.isSingleSignOnRequired) throw new AppError('single_sign_on_required');
  }
}
