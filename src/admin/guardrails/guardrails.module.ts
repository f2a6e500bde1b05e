import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { GuardrailsController } from './guardrails.controller.js';
import { GuardrailReferences } from './guardrail-references.service.js';
import { GuardrailsService } from './guardrails.service.js';

/** Stored guardrails. */
@Module({
  imports: [AuthModule, CryptoModule, TenancyModule],
  controllers: [GuardrailsController],
  providers: [GuardrailsService, GuardrailReferences],
})
export class GuardrailsModule {}
