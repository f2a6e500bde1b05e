import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { OpenIdConnectModule } from '../openid-connect/openid-connect.module.js';
import { IdentityProvider, UserIdentity } from '../sign-in-policy/identity-provider.entity.js';
import { SignInSettingsModule } from '../sign-in-settings/sign-in-settings.module.js';
import { UsersModule } from '../users/users.module.js';
import { IdentityProvidersController } from './identity-providers.controller.js';
import { IdentityProvidersService } from './identity-providers.service.js';
import { LinkedAccountsService } from './linked-accounts.service.js';
import { SignInTrial } from './sign-in-trial.entity.js';
import { SignInTrialsController } from './sign-in-trials.controller.js';
import { SignInTrialsService } from './sign-in-trials.service.js';
import { TrialDrafts } from './trial-drafts.service.js';

@Module({
  imports: [
    AuthModule,
    CryptoModule,
    OpenIdConnectModule,
    SignInSettingsModule,
    UsersModule,
    TransactionRepositories.forFeature(IdentityProvider, SignInTrial, UserIdentity),
  ],
  controllers: [IdentityProvidersController, SignInTrialsController],
  providers: [IdentityProvidersService, LinkedAccountsService, SignInTrialsService, TrialDrafts],
  exports: [SignInTrialsService],
})
export class IdentityProvidersModule {}
