import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { Passkey } from '../passkeys/passkey.entity.js';
import { SecondFactorsModule } from '../second-factors/second-factors.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { SingleSignOnSession } from '../sessions/single-sign-on-session.entity.js';
import { IdentityProvider } from '../sign-in-policy/identity-provider.entity.js';
import { Organization } from '../tenancy/organization.entity.js';
import { User } from '../tenancy/user.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { SessionProvidersService } from './session-providers.service.js';
import { SessionsController } from './sessions.controller.js';
import { SignInMethodsService } from './sign-in-methods.service.js';
import { SignedInService } from './signed-in.service.js';

/** The signed-in user as the dashboard shows them: rights, sessions and sign-in methods. */
@Module({
  imports: [
    AuthModule,
    SecondFactorsModule,
    SessionsModule,
    TransactionRepositories.forFeature(
      IdentityProvider,
      Organization,
      Passkey,
      SingleSignOnSession,
      User,
      Workspace,
      WorkspaceMember,
    ),
  ],
  controllers: [SessionsController],
  providers: [SessionProvidersService, SignInMethodsService, SignedInService],
  exports: [SignInMethodsService, SignedInService],
})
export class SignedInUserModule {}
