import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { ModelConfigsController } from './model-configs.controller.js';
import { ModelPricesService } from './model-prices.service.js';

/** Model prices. Needs the adapters' `PriceBook`. */
@Module({ imports: [AuthModule], controllers: [ModelConfigsController], providers: [ModelPricesService] })
export class ModelConfigsModule {}
