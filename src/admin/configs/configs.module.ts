import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { GuardrailReferences } from '../guardrails/guardrail-references.service.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { ConfigChecker } from './config-checker.service.js';
import { ConfigUsageService } from './config-usage.service.js';
import { ConfigVersionsController } from './config-versions.controller.js';
import { ConfigVersionsService } from './config-versions.service.js';
import { ConfigsController } from './configs.controller.js';
import { ConfigsService } from './configs.service.js';
import { DefaultConfig } from './default-config.js';
import { SimulationService } from './simulation.service.js';
import { TokenPricesService } from './token-prices.service.js';
import { Config } from './config.entity.js';
import { ConfigVersion } from './config-version.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { VirtualKey } from '../virtual-keys/virtual-key.entity.js';
import { Guardrail } from '../guardrails/guardrail.entity.js';
import { ModelPrice } from '../model-configs/model-price.entity.js';
import { IntegrationModel } from '../integrations/integration-model.entity.js';
import { Integration } from '../integrations/integration.entity.js';

/** Saved routing configs: validated when saved, run by the gateway. Needs the adapters' `PriceBook`. */
@Module({
  imports: [
    AuthModule,
    TenancyModule,
    TransactionRepositories.forFeature(
      Config,
      ConfigVersion,
      Guardrail,
      Integration,
      IntegrationModel,
      ModelPrice,
      VirtualKey,
      Workspace,
    ),
  ],
  controllers: [ConfigsController, ConfigVersionsController],
  providers: [
    ConfigsService,
    ConfigVersionsService,
    ConfigChecker,
    ConfigUsageService,
    DefaultConfig,
    GuardrailReferences,
    SimulationService,
    TokenPricesService,
  ],
})
export class ConfigsModule {}
