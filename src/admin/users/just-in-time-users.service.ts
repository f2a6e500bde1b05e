import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { FastifyRequest } from 'fastify';
import { JustInTimeUsers } from '../../auth/identity/just-in-time-users.js';
import type { JustInTimeUser } from '../../auth/tokens/just-in-time-user.js';
import { User } from '../tenancy/user.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { DirectoryUsersService } from './directory-users.service.js';
import { PeopleService } from './people.service.js';

/** Creates users that a signed token names first, if their organization accepts new users. */
@Injectable()
export class JustInTimeUsersService extends JustInTimeUsers {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly people: PeopleService,
    private readonly directory: DirectoryUsersService,
  ) {
    super();
  }

  /** Of two concurrent first requests, one creates the user, and the other finds it. */
  override async provision({ mostPeople, ...user }: JustInTimeUser, request: FastifyRequest): Promise<void> {
    const { organizationId } = user;
    await this.unitOfWork.runFor({ organizationId, isReading: false }, async () => {
      await this.people.lockMemberships(organizationId);
      if ((await this.users.countBy({ organizationId })) >= mostPeople)
        throw new AppError('forbidden', {
          detail: 'the organization accepts no more new users by signed token',
        });
      await this.directory.create(user, request);
    });
  }
}
