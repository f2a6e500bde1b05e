import { Global, Module } from '@nestjs/common';
import { Newcomers } from '../../auth/identity/newcomers.js';
import { NewcomersService } from './newcomers.service.js';
import { UsersModule } from './users.module.js';

/** Used by the guard of every administrative controller. */
@Global()
@Module({
  imports: [UsersModule],
  providers: [{ provide: Newcomers, useClass: NewcomersService }],
  exports: [Newcomers],
})
export class NewcomersModule {}
