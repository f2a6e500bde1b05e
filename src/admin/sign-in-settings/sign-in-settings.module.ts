import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { OpenIdConnectModule } from '../openid-connect/openid-connect.module.js';
import { UserCredential } from '../passwords/user-credential.entity.js';
import { Session } from '../sessions/session.entity.js';
import { IdentityProvider } from '../sign-in-policy/identity-provider.entity.js';
import { SignInPolicy } from '../sign-in-policy/sign-in-policy.entity.js';
import { SignInPolicyModule } from '../sign-in-policy/sign-in-policy.module.js';
import { User } from '../tenancy/user.entity.js';
import { UsersModule } from '../users/users.module.js';
import { LockoutCheckService } from './lockout-check.service.js';
import { SignInSettingsController } from './sign-in-settings.controller.js';
import { SignInSettingsService } from './sign-in-settings.service.js';

/** How the users of an organization sign in, for its owners. */
@Module({
  imports: [
    AuthModule,
    OpenIdConnectModule,
    SignInPolicyModule,
    UsersModule,
    TransactionRepositories.forFeature(IdentityProvider, Session, SignInPolicy, User, UserCredential),
  ],
  controllers: [SignInSettingsController],
  providers: [LockoutCheckService, SignInSettingsService],
  exports: [LockoutCheckService],
})
export class SignInSettingsModule {}
