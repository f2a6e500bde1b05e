import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { KeyRevocationModule } from '../api-keys/key-revocation.module.js';
import { SecondFactorsModule } from '../second-factors/second-factors.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { SignedInUserModule } from '../signed-in-user/signed-in-user.module.js';
import { DirectoryUsersService } from './directory-users.service.js';
import { PeopleService } from './people.service.js';
import { ServiceKeyHandover } from './service-key-handover.js';
import { UserRemovalService } from './user-removal.service.js';
import { UserSignInController } from './user-sign-in.controller.js';
import { UserSignInService } from './user-sign-in.service.js';
import { UsersController } from './users.controller.js';
import { UsersService } from './users.service.js';
import { User } from '../tenancy/user.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { Organization } from '../tenancy/organization.entity.js';
import { Invite } from '../tenancy/invite.entity.js';
import { ApiKey } from '../api-keys/api-key.entity.js';
import { Passkey } from '../passkeys/passkey.entity.js';

@Module({
  imports: [
    AuthModule,
    KeyRevocationModule,
    SecondFactorsModule,
    SessionsModule,
    SignedInUserModule,
    TransactionRepositories.forFeature(
      ApiKey,
      Invite,
      Organization,
      Passkey,
      User,
      Workspace,
      WorkspaceMember,
    ),
  ],
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
