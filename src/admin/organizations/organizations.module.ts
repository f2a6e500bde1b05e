import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { GuardrailReferences } from '../guardrails/guardrail-references.service.js';
import { OrganizationsController } from './organizations.controller.js';
import { OrganizationsService } from './organizations.service.js';

@Module({
  imports: [AuthModule, CryptoModule],
  controllers: [OrganizationsController],
  providers: [OrganizationsService, GuardrailReferences],
})
export class OrganizationsModule {}
