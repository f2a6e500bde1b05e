import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { RefusedCredential } from './refused-credential.entity.js';
import { RefusedCredentialsController } from './refused-credentials.controller.js';
import { RefusedCredentialsService } from './refused-credentials.service.js';

/** What was refused for its credential, for operators. */
@Module({
  imports: [AuthModule, TransactionRepositories.forFeature(RefusedCredential)],
  controllers: [RefusedCredentialsController],
  providers: [RefusedCredentialsService],
})
export class RefusedCredentialsModule {}
