import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { IdentityProvider, SingleSignOnSession, UserIdentity } from '../sign-in/identity-provider.entity.js';
import { SignInTrial } from './sign-in-trial.entity.js';
import { Organization } from '../tenancy/organization.entity.js';
import { Session } from '../sign-in/session.entity.js';
import { SignInPolicy, UsedToken } from '../sign-in-policy/sign-in-policy.entity.js';
import { UserCredential } from '../sign-in/user-credential.entity.js';
import { User } from '../tenancy/user.entity.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { SessionsModule } from '../sign-in/sessions.module.js';
import { SignInModule } from '../sign-in/sign-in.module.js';
import { UsersModule } from '../users/users.module.js';
import { ProvisioningService } from './provisioning.service.js';
import { BackChannelLogoutController } from './back-channel-logout.controller.js';
import { BackChannelLogoutService } from './back-channel-logout.service.js';
import { IdentityProvidersController } from './identity-providers.controller.js';
import { IdentityProvidersService } from './identity-providers.service.js';
import { FirstLinksService } from './first-links.service.js';
import { LinkedAccountsService } from './linked-accounts.service.js';
import { ProviderClient } from './provider-client.service.js';
import { ProviderSessionsService } from './provider-sessions.service.js';
import { SavedProviders } from './saved-providers.service.js';
import { SignInSettingsController } from './sign-in-settings.controller.js';
import { SignInSettingsService } from './sign-in-settings.service.js';
import { SignInTrialsController } from './sign-in-trials.controller.js';
import { SignInTrialsService } from './sign-in-trials.service.js';
import { SignOnFlows } from './sign-on-flows.service.js';
import { SignOnPlans } from './sign-on-plans.service.js';
import {
  FindProvidersController,
  SignOnCallbackController,
  SignOutController,
  StartSignOnController,
} from './single-sign-on.controller.js';
import { SingleSignOnService } from './single-sign-on.service.js';
import { TrialDrafts } from './trial-drafts.service.js';
import { LockoutCheckService } from './lockout-check.service.js';

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
