import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { GuardrailsController } from './guardrails.controller.js';
import { GuardrailReferences } from './guardrail-references.service.js';
import { GuardrailsService } from './guardrails.service.js';
import { Guardrail } from './guardrail.entity.js';
import { Organization } from '../tenancy/organization.entity.js';

/** Stored guardrails. */
@Module({
  imports: [
    AuthModule,
    CryptoModule,
    TenancyModule,
    TransactionRepositories.forFeature(Guardrail, Organization),
  ],
  controllers: [GuardrailsController],
  providers: [GuardrailsService, GuardrailReferences],
})
export class GuardrailsModule {}
