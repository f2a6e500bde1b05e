import { Global, Module } from '@nestjs/common';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { IdempotentAnswers } from './idempotent-answers.js';
import { Organization } from '../tenancy/organization.entity.js';

/** Repeated requests, for every administrative controller. */
@Global()
@Module({
  imports: [CryptoModule, TransactionRepositories.forFeature(Organization)],
  providers: [IdempotentAnswers, IdempotencyInterceptor],
  exports: [IdempotentAnswers, IdempotencyInterceptor],
})
export class RepeatsModule {}
