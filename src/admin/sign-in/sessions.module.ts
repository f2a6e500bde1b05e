import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import {
  IdentityProvider,
  SingleSignOnSession,
} from '../../common/database/entities/identity-provider.entity.js';
import { Organization } from '../../common/database/entities/organization.entity.js';
import { Passkey } from '../../common/database/entities/passkey.entity.js';
import { RecoveryCode } from '../../common/database/entities/recovery-code.entity.js';
import { Session } from '../../common/database/entities/session.entity.js';
import { UserCredential } from '../../common/database/entities/user-credential.entity.js';
import { User } from '../../common/database/entities/user.entity.js';
import { WorkspaceMember } from '../../common/database/entities/workspace-member.entity.js';
import { Workspace } from '../../common/database/entities/workspace.entity.js';
import { TransactionRepositories } from '../../common/database/transaction-repositories.js';
import { SecondFactorsService } from './second-factors.service.js';
import { SessionsController } from './sessions.controller.js';
import { SessionsService } from './sessions.service.js';
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
  providers: [SecondFactorsService, SessionsService, SignedInService],
  exports: [SecondFactorsService, SessionsService, SignedInService],
})
export class SessionsModule {}
