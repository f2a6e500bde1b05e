import { Module } from '@nestjs/common';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { KeyRevocationService } from './key-revocation.service.js';
import { ApiKey } from './api-key.entity.js';

/** Separate from the other services of API keys, because modules that those depend on need it. */
@Module({
  imports: [TransactionRepositories.forFeature(ApiKey)],
  providers: [KeyRevocationService],
  exports: [KeyRevocationService],
})
export class KeyRevocationModule {}
