import { Module } from '@nestjs/common';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { CredentialsService } from './credentials.service.js';
import { Organization } from '../tenancy/organization.entity.js';

/** Common to virtual keys and integrations: a credential that is sealed for one destination. */
@Module({
  imports: [CryptoModule, TransactionRepositories.forFeature(Organization)],
  providers: [CredentialsService],
  exports: [CredentialsService],
})
export class CredentialsModule {}
