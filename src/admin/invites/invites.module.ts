import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { PasswordsModule } from '../passwords/passwords.module.js';
import { UsersModule } from '../users/users.module.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { AcceptInviteController } from './accept-invite.controller.js';
import { InviteAcceptanceService } from './invite-acceptance.service.js';
import { InviteDelivery } from './invite-delivery.js';
import { InvitesController } from './invites.controller.js';
import { InvitesService } from './invites.service.js';
import { Invite } from '../tenancy/invite.entity.js';
import { User } from '../tenancy/user.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { InviteWorkspace } from './invite-workspace.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { Mail } from './mail.entity.js';

@Module({
  imports: [
    ApiKeysModule,
    AuthModule,
    CryptoModule,
    PasswordsModule,
    UsersModule,
    TenancyModule,
    TransactionRepositories.forFeature(Invite, InviteWorkspace, Mail, User, Workspace, WorkspaceMember),
  ],
  controllers: [InvitesController, AcceptInviteController],
  providers: [InviteAcceptanceService, InviteDelivery, InvitesService],
})
export class InvitesModule {}
