import { Global, Module } from '@nestjs/common';
import { JustInTimeUsers } from '../../auth/identity/just-in-time-users.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { User } from '../tenancy/user.entity.js';
import { JustInTimeUsersService } from './just-in-time-users.service.js';
import { UsersModule } from './users.module.js';

/** Used by the guard of every administrative controller. */
@Global()
@Module({
  imports: [TransactionRepositories.forFeature(User), UsersModule],
  providers: [{ provide: JustInTimeUsers, useClass: JustInTimeUsersService }],
  exports: [JustInTimeUsers],
})
export class JustInTimeUsersModule {}
