import { Global, Module } from '@nestjs/common';
import { Newcomers } from '../../auth/identity/newcomers.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { User } from '../tenancy/user.entity.js';
import { NewcomersService } from './newcomers.service.js';
import { UsersModule } from './users.module.js';

/** Used by the guard of every administrative controller. */
@Global()
@Module({
  imports: [TransactionRepositories.forFeature(User), UsersModule],
  providers: [{ provide: Newcomers, useClass: NewcomersService }],
  exports: [Newcomers],
})
export class NewcomersModule {}
