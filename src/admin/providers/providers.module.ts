import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { IntegrationsModule } from '../integrations/integrations.module.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { ProvidersController } from './providers.controller.js';
import { ProvidersService } from './providers.service.js';
import { WorkspaceProvider } from '../integrations/workspace-provider.entity.js';

@Module({
  imports: [
    AuthModule,
    IntegrationsModule,
    TenancyModule,
    TransactionRepositories.forFeature(WorkspaceProvider),
  ],
  controllers: [ProvidersController],
  providers: [ProvidersService],
})
export class ProvidersModule {}
