import { Module } from '@nestjs/common';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { SignInPolicyModule } from '../sign-in-policy/sign-in-policy.module.js';
import { PasswordsService } from './passwords.service.js';
import { SignInLink } from './sign-in-link.entity.js';
import { UserCredential } from './user-credential.entity.js';

@Module({
  imports: [
    SessionsModule,
    SignInPolicyModule,
    TransactionRepositories.forFeature(SignInLink, UserCredential),
  ],
  providers: [PasswordsService],
  exports: [PasswordsService],
})
export class PasswordsModule {}
