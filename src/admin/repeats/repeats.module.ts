import { Global, Module } from '@nestjs/common';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { IdempotentAnswers } from './idempotent-answers.js';

/** Repeated requests, for every administrative controller. */
@Global()
@Module({
  imports: [CryptoModule],
  providers: [IdempotentAnswers, IdempotencyInterceptor],
  exports: [IdempotentAnswers, IdempotencyInterceptor],
})
export class RepeatsModule {}
