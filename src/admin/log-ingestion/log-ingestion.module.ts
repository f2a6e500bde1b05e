import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CustomLogsController } from './custom-logs.controller.js';
import { LogIngestionService } from './log-ingestion.service.js';
import { OtlpTracesController } from './otlp-traces.controller.js';

@Module({
  imports: [AuthModule],
  controllers: [CustomLogsController, OtlpTracesController],
  providers: [LogIngestionService],
})
export class LogIngestionModule {}
