import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { User } from '../../common/database/entities/user.entity.js';
import { UnitOfWork } from '../../common/database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';

/** Decides which organization and which person a new key belongs to. */
@Injectable()
export class KeyOwnerService {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** The body may say the organization, but only the caller's own. */
  checkOrganization(caller: Principal, named: string | undefined): void {
    if (named !== undefined && named.toLowerCase() !== caller.organizationId)
      throw new AppError('not_found', { resource: 'organisation' });
  }

  /** The person that is named, or the caller's own, or the organization's first owner. */
  async userFor(caller: Principal, named: string | undefined): Promise<string> {
    const { organizationId } = caller;
    const id = named ?? caller.userId;
    const users = this.unitOfWork.repository(User);
    const user =
      id === null
        ? await users.findOne({
            where: { organizationId, role: 'owner' },
            order: { createdAt: 'ASC', id: 'ASC' },
          })
        : await users.findOneBy({ organizationId, id });
    if (!user) throw new AppError('not_found', { resource: 'user' });
    return user.id;
  }
}
