import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import {
  IdentityProvider,
  SingleSignOnSession,
  UserIdentity,
} from '../sign-in-policy/identity-provider.entity.js';
import { SignInTrial } from '../identity-providers/sign-in-trial.entity.js';
import { Organization } from '../tenancy/organization.entity.js';
import { Session } from '../sessions/session.entity.js';
import { SignInPolicy, UsedToken } from '../sign-in-policy/sign-in-policy.entity.js';
import { UserCredential } from '../passwords/user-credential.entity.js';
import { User } from '../tenancy/user.entity.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { SessionsModule } from '../signed-in-user/sessions.module.js';
import { SignInModule } from '../sign-in/sign-in.module.js';
import { UsersModule } from '../users/users.module.js';
import { ProvisioningService } from './provisioning.service.js';
import { BackChannelLogoutController } from './back-channel-logout.controller.js';
import { BackChannelLogoutService } from './back-channel-logout.service.js';
import { IdentityProvidersController } from '../identity-providers/identity-providers.controller.js';
import { IdentityProvidersService } from '../identity-providers/identity-providers.service.js';
import { FirstLinksService } from './first-links.service.js';
import { LinkedAccountsService } from '../identity-providers/linked-accounts.service.js';
import { ProviderClient } from '../openid-connect/provider-client.service.js';
import { ProviderSessionsService } from '../openid-connect/provider-sessions.service.js';
import { SavedProviders } from '../openid-connect/saved-providers.service.js';
import { SignInSettingsController } from '../sign-in-settings/sign-in-settings.controller.js';
import { SignInSettingsService } from '../sign-in-settings/sign-in-settings.service.js';
import { SignInTrialsController } from '../identity-providers/sign-in-trials.controller.js';
import { SignInTrialsService } from '../identity-providers/sign-in-trials.service.js';
import { SignOnFlows } from '../openid-connect/sign-on-flows.service.js';
import { SignOnPlans } from '../openid-connect/sign-on-plans.service.js';
import {
  FindProvidersController,
  SignOnCallbackController,
  SignOutController,
  StartSignOnController,
} from './single-sign-on.controller.js';
import { SingleSignOnService } from './single-sign-on.service.js';
import { TrialDrafts } from '../identity-providers/trial-drafts.service.js';
import { LockoutCheckService } from '../sign-in-settings/lockout-check.service.js';

@Module({
  imports: [
    AuthModule,
    CryptoModule,
    SessionsModule,
    SignInModule,
    UsersModule,
    TransactionRepositories.forFeature(
      IdentityProvider,
      Organization,
      Session,
      SignInPolicy,
      SignInTrial,
      SingleSignOnSession,
      UsedToken,
      User,
      UserCredential,
      UserIdentity,
    ),
  ],
  controllers: [
    BackChannelLogoutController,
    FindProvidersController,
    IdentityProvidersController,
    SignInSettingsController,
    SignInTrialsController,
    SignOnCallbackController,
    SignOutController,
    StartSignOnController,
  ],
  providers: [
    FirstLinksService,
    ProvisioningService,
    BackChannelLogoutService,
    IdentityProvidersService,
    LinkedAccountsService,
    ProviderClient,
    ProviderSessionsService,
    SavedProviders,
    SignInSettingsService,
    SignInTrialsService,
    SignOnFlows,
    SignOnPlans,
    SingleSignOnService,
    TrialDrafts,
    LockoutCheckService,
  ],
})
export class IdentityProvidersModule {}
