import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { FeedbackController } from './feedback.controller.js';
import { FeedbackService } from './feedback.service.js';
import { Feedback } from './feedback.entity.js';

@Module({
  imports: [AuthModule, TransactionRepositories.forFeature(Feedback)],
  controllers: [FeedbackController],
  providers: [FeedbackService],
})
export class FeedbackModule {}
