import { Module } from '@nestjs/common';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { User } from '../tenancy/user.entity.js';
import { SignInPolicy } from './sign-in-policy.entity.js';
import { SignInPolicyService } from './sign-in-policy.service.js';

@Module({
  imports: [TransactionRepositories.forFeature(SignInPolicy, User)],
  providers: [SignInPolicyService],
  exports: [SignInPolicyService],
})
export class SignInPolicyModule {}
