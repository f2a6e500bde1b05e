import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { FeedbackController } from './feedback.controller.js';
import { FeedbackService } from './feedback.service.js';

@Module({ imports: [AuthModule], controllers: [FeedbackController], providers: [FeedbackService] })
export class FeedbackModule {}
