import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { UserCredential } from '../passwords/user-credential.entity.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { SignInPolicyModule } from '../sign-in-policy/sign-in-policy.module.js';
import { Organization } from '../tenancy/organization.entity.js';
import { RecoveryCode } from './recovery-code.entity.js';
import { SecondFactorsController } from './second-factors.controller.js';
import { SecondFactorsService } from './second-factors.service.js';

@Module({
  imports: [
    AuthModule,
    CryptoModule,
    SessionsModule,
    SignInPolicyModule,
    TransactionRepositories.forFeature(Organization, RecoveryCode, UserCredential),
  ],
  controllers: [SecondFactorsController],
  providers: [SecondFactorsService],
  exports: [SecondFactorsService],
})
export class SecondFactorsModule {}
