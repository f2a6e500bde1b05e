import { Module } from '@nestjs/common';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { User } from '../tenancy/user.entity.js';
import { SignInPolicy } from './sign-in-policy.entity.js';
import { SignInPolicyService } from './sign-in-policy.service.js';
import { SignInThrottle } from './sign-in-throttle.service.js';

@Module({
  imports: [CryptoModule, TransactionRepositories.forFeature(SignInPolicy, User)],
  providers: [SignInPolicyService, SignInThrottle],
  exports: [SignInPolicyService, SignInThrottle],
})
export class SignInPolicyModule {}
