import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
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

/** Saved routing configs: validated when saved, run by the gateway. Needs the adapters' `PriceBook`. */
@Module({
  imports: [AuthModule, TenancyModule],
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
