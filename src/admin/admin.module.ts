import { RefusedCredentialsModule } from './refused-credentials/refused-credentials.module.js';
import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { StrategiesModule } from '../auth/strategies/strategies.module.js';
import { ScopeDeclarationCheck } from './controllers/scope-declaration-check.js';
import { AnalyticsModule } from './analytics/analytics.module.js';
import { ApiKeysModule } from './api-keys/api-keys.module.js';
import { AuditDestinationsModule } from './audit-destinations/audit-destinations.module.js';
import { AuditModule } from './audit/audit.module.js';
import { AuditLogsModule } from './audit-logs/audit-logs.module.js';
import { FeedbackModule } from './feedback/feedback.module.js';
import { GuardrailsModule } from './guardrails/guardrails.module.js';
import { ConfigsModule } from './configs/configs.module.js';
import { IdentityProvidersModule } from './identity-providers/identity-providers.module.js';
import { IntegrationsModule } from './integrations/integrations.module.js';
import { InvitesModule } from './invites/invites.module.js';
import { LimitStatusModule } from './limit-status/limit-status.module.js';
import { LegalHoldsModule } from './legal-holds/legal-holds.module.js';
import { LogViewsModule } from './log-views/log-views.module.js';
import { LogExportsModule } from './log-exports/log-exports.module.js';
import { LogIngestionModule } from './log-ingestion/log-ingestion.module.js';
import { LogsModule } from './logs/logs.module.js';
import { MeModule } from './me/me.module.js';
import { OrganizationJwtModule } from './organization-jwt/organization-jwt.module.js';
import { OrganizationsModule } from './organizations/organizations.module.js';
import { RepeatsModule } from './idempotency/repeats.module.js';
import { ModelConfigsModule } from './model-configs/model-configs.module.js';
import { SecondFactorsModule } from './second-factors/second-factors.module.js';
import { SignedInUserModule } from './signed-in-user/signed-in-user.module.js';
import { SecretReferencesModule } from './secret-references/secret-references.module.js';
import { SignInModule } from './sign-in/sign-in.module.js';
import { SignInSettingsModule } from './sign-in-settings/sign-in-settings.module.js';
import { SingleSignOnModule } from './single-sign-on/single-sign-on.module.js';
import { StepUpModule } from './step-up/step-up.module.js';
import { PasskeysModule } from './passkeys/passkeys.module.js';
import { ProviderCatalogModule } from './provider-catalog/provider-catalog.module.js';
import { ProvidersModule } from './providers/providers.module.js';
import { PoliciesModule } from './policies/policies.module.js';
import { JustInTimeUsersModule } from './users/just-in-time-users.module.js';
import { UsersModule } from './users/users.module.js';
import { VirtualKeysModule } from './virtual-keys/virtual-keys.module.js';
import { WorkspacesModule } from './workspaces/workspaces.module.js';

/**
 * The control plane: the list of its resources. Needs the adapters' `ApiKeyDirectory`, `SessionDirectory`, `ChangePublisher`, `Egress`,
 * `PriceBook` and `ModelCatalog`.
 */
@Module({
  imports: [
    DiscoveryModule,
    StrategiesModule,
    AuditModule,
    AuditLogsModule,
    AuditDestinationsModule,
    RepeatsModule,
    OrganizationsModule,
    WorkspacesModule,
    UsersModule,
    InvitesModule,
    MeModule,
    SignedInUserModule,
    SignInModule,
    StepUpModule,
    SecondFactorsModule,
    PasskeysModule,
    SingleSignOnModule,
    IdentityProvidersModule,
    SignInSettingsModule,
    JustInTimeUsersModule,
    ApiKeysModule,
    SecretReferencesModule,
    VirtualKeysModule,
    ConfigsModule,
    IntegrationsModule,
    ProviderCatalogModule,
    ProvidersModule,
    ModelConfigsModule,
    PoliciesModule,
    GuardrailsModule,
    LegalHoldsModule,
    LimitStatusModule,
    LogExportsModule,
    LogViewsModule,
    LogIngestionModule,
    LogsModule,
    AnalyticsModule,
    FeedbackModule,
    OrganizationJwtModule,
    RefusedCredentialsModule,
  ],
  providers: [ScopeDeclarationCheck],
})
export class AdminModule {}
