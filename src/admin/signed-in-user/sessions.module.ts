import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { IdentityProvider, SingleSignOnSession } from '../sign-in-policy/identity-provider.entity.js';
import { Organization } from '../tenancy/organization.entity.js';
import { Passkey } from '../passkeys/passkey.entity.js';
import { RecoveryCode } from '../second-factors/recovery-code.entity.js';
import { Session } from '../sessions/session.entity.js';
import { UserCredential } from '../passwords/user-credential.entity.js';
import { User } from '../tenancy/user.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { SecondFactorsService } from '../second-factors/second-factors.service.js';
import { SessionProvidersService } from './session-providers.service.js';
import { SessionsController } from './sessions.controller.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { SignInMethodsService } from './sign-in-methods.service.js';
import { SignedInService } from './signed-in.service.js';

@Module({
  imports: [
    AuthModule,
    CryptoModule,
    TransactionRepositories.forFeature(
      IdentityProvider,
      Organization,
      Passkey,
      RecoveryCode,
      Session,
      SingleSignOnSession,
      User,
      UserCredential,
      Workspace,
      WorkspaceMember,
    ),
  ],
  controllers: [SessionsController],
  providers: [
    SecondFactorsService,
    SessionProvidersService,
    SessionsService,
    SignInMethodsService,
    SignedInService,
  ],
  exports: [SecondFactorsService, SessionsService, SignInMethodsService, SignedInService],
})
export class SessionsModule {}
