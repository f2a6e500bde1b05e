import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { Session } from '../sessions/session.entity.js';
import { SingleSignOnSession } from '../sessions/single-sign-on-session.entity.js';
import { IdentityProvider, UserIdentity } from '../sign-in-policy/identity-provider.entity.js';
import { Organization } from '../tenancy/organization.entity.js';
import { User } from '../tenancy/user.entity.js';
import { ProviderClient } from './provider-client.service.js';
import { ProviderSessionsService } from './provider-sessions.service.js';
import { SavedProviders } from './saved-providers.service.js';
import { SignOnFlows } from './sign-on-flows.service.js';
import { SignOnPlans } from './sign-on-plans.service.js';
import { UsedToken } from './used-token.entity.js';

/** Identity providers as OpenID Connect sees them: their addresses, flows, claims and sessions. */
@Module({
  imports: [
    AuthModule,
    CryptoModule,
    TransactionRepositories.forFeature(
      IdentityProvider,
      Organization,
      Session,
      SingleSignOnSession,
      UsedToken,
      User,
      UserIdentity,
    ),
  ],
  providers: [ProviderClient, ProviderSessionsService, SavedProviders, SignOnFlows, SignOnPlans],
  exports: [ProviderClient, ProviderSessionsService, SavedProviders, SignOnFlows, SignOnPlans],
})
export class OpenIdConnectModule {}
