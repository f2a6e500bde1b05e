import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { ModelConfigsController } from './model-configs.controller.js';
import { ModelPricesService } from './model-prices.service.js';
import { ModelPrice } from './model-price.entity.js';

/** Model prices. Needs the adapters' `PriceBook`. */
@Module({
  imports: [AuthModule, TransactionRepositories.forFeature(ModelPrice)],
  controllers: [ModelConfigsController],
  providers: [ModelPricesService],
})
export class ModelConfigsModule {}
