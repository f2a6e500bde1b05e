import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { SecretReferencesModule } from '../secret-references/secret-references.module.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { DefaultProviders } from './default-providers.js';
import { IntegrationAccessService } from './integration-access.service.js';
import { IntegrationFinder } from './integration-finder.service.js';
import { IntegrationModelsService } from './integration-models.service.js';
import { IntegrationPartsController } from './integration-parts.controller.js';
import { IntegrationsController } from './integrations.controller.js';
import { IntegrationsService } from './integrations.service.js';
import { Integration } from './integration.entity.js';
import { WorkspaceProvider } from './workspace-provider.entity.js';
import { IntegrationModel } from './integration-model.entity.js';
import { IntegrationWorkspace } from './integration-workspace.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';

/** Credentials that workspaces share. Needs the adapters' `ModelCatalog`. */
@Module({
  imports: [
    AuthModule,
    CredentialsModule,
    SecretReferencesModule,
    TenancyModule,
    TransactionRepositories.forFeature(
      Integration,
      IntegrationModel,
      IntegrationWorkspace,
      Workspace,
      WorkspaceProvider,
    ),
  ],
  controllers: [IntegrationsController, IntegrationPartsController],
  providers: [
    IntegrationsService,
    IntegrationFinder,
    IntegrationModelsService,
    IntegrationAccessService,
    DefaultProviders,
  ],
  exports: [IntegrationFinder],
})
export class IntegrationsModule {}
