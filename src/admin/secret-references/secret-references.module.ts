import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { Organization } from '../tenancy/organization.entity.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { SecretMappingsService } from './secret-mappings.service.js';
import { SecretReference } from './secret-reference.entity.js';
import { SecretReferencesController } from './secret-references.controller.js';
import { SecretReferencesService } from './secret-references.service.js';

/** Secrets in secret managers. Needs the adapters' `SecretManagers` and `WorkloadIdentity`. */
@Module({
  imports: [
    AuthModule,
    CryptoModule,
    TenancyModule,
    TransactionRepositories.forFeature(Organization, SecretReference),
  ],
  controllers: [SecretReferencesController],
  providers: [SecretMappingsService, SecretReferencesService],
  exports: [SecretMappingsService],
})
export class SecretReferencesModule {}
