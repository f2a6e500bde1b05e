import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { CustomLogsController } from './custom-logs.controller.js';
import { LogIngestionService } from './log-ingestion.service.js';
import { OtlpTracesController } from './otlp-traces.controller.js';
import { ModelPrice } from '../model-configs/model-price.entity.js';

@Module({
  imports: [AuthModule, TransactionRepositories.forFeature(ModelPrice)],
  controllers: [CustomLogsController, OtlpTracesController],
  providers: [LogIngestionService],
})
export class LogIngestionModule {}
