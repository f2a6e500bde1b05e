import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { UsersModule } from '../users/users.module.js';
import { GuardrailReferences } from '../guardrails/guardrail-references.service.js';
import { OrganizationsController } from './organizations.controller.js';
import { OrganizationsService } from './organizations.service.js';
import { Organization } from '../tenancy/organization.entity.js';
import { Guardrail } from '../guardrails/guardrail.entity.js';

@Module({
  imports: [
    AuthModule,
    CryptoModule,
    UsersModule,
    TransactionRepositories.forFeature(Guardrail, Organization),
  ],
  controllers: [OrganizationsController],
  providers: [OrganizationsService, GuardrailReferences],
})
export class OrganizationsModule {}
