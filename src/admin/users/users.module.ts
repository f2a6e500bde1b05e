import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { KeyRevocationModule } from '../api-keys/key-revocation.module.js';
import { SessionsModule } from '../sign-in/sessions.module.js';
import { DirectoryUsersService } from './directory-users.service.js';
import { PeopleService } from './people.service.js';
import { ServiceKeyHandover } from './service-key-handover.js';
import { UserRemovalService } from './user-removal.service.js';
import { UserSignInController } from './user-sign-in.controller.js';
import { UserSignInService } from './user-sign-in.service.js';
import { UsersController } from './users.controller.js';
import { UsersService } from './users.service.js';

@Module({
  imports: [AuthModule, KeyRevocationModule, SessionsModule],
  controllers: [UsersController, UserSignInController],
  providers: [
    DirectoryUsersService,
    PeopleService,
    ServiceKeyHandover,
    UserRemovalService,
    UserSignInService,
    UsersService,
  ],
  exports: [DirectoryUsersService, PeopleService],
})
export class UsersModule {}
