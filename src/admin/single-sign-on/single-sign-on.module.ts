import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { IdentityProvidersModule } from '../identity-providers/identity-providers.module.js';
import { OpenIdConnectModule } from '../openid-connect/openid-connect.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { UserIdentity } from '../sign-in-policy/identity-provider.entity.js';
import { SignInPolicyModule } from '../sign-in-policy/sign-in-policy.module.js';
import { SignInModule } from '../sign-in/sign-in.module.js';
import { UsersModule } from '../users/users.module.js';
import { BackChannelLogoutController } from './back-channel-logout.controller.js';
import { BackChannelLogoutService } from './back-channel-logout.service.js';
import { FirstLinksService } from './first-links.service.js';
import { ProvisioningService } from './provisioning.service.js';
import { SignOnCallbackService } from './sign-on-callback.service.js';
import { SignOnStartService } from './sign-on-start.service.js';
import {
  FindProvidersController,
  SignOnCallbackController,
  SignOutController,
  StartSignOnController,
} from './single-sign-on.controller.js';
import { SingleSignOnService } from './single-sign-on.service.js';

@Module({
  imports: [
    AuthModule,
    IdentityProvidersModule,
    OpenIdConnectModule,
    SessionsModule,
    SignInModule,
    SignInPolicyModule,
    UsersModule,
    TransactionRepositories.forFeature(UserIdentity),
  ],
  controllers: [
    BackChannelLogoutController,
    FindProvidersController,
    SignOnCallbackController,
    SignOutController,
    StartSignOnController,
  ],
  providers: [
    BackChannelLogoutService,
    FirstLinksService,
    ProvisioningService,
    SignOnCallbackService,
    SignOnStartService,
    SingleSignOnService,
  ],
})
export class SingleSignOnModule {}
