import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { HttpCaller } from '../../egress/http-caller.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { SecretReferencesModule } from '../secret-references/secret-references.module.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { CredentialTester } from './credential-tester.service.js';
import { VirtualKeyTestsController } from './virtual-key-tests.controller.js';
import { VirtualKeyTests } from './virtual-key-tests.service.js';
import { VirtualKeysController } from './virtual-keys.controller.js';
import { VirtualKeysService } from './virtual-keys.service.js';
import { VirtualKey } from './virtual-key.entity.js';

@Module({
  imports: [
    AuthModule,
    CredentialsModule,
    LimitsModule,
    SecretReferencesModule,
    TenancyModule,
    TransactionRepositories.forFeature(VirtualKey),
  ],
  controllers: [VirtualKeysController, VirtualKeyTestsController],
  providers: [CredentialTester, HttpCaller, VirtualKeysService, VirtualKeyTests],
  exports: [VirtualKeysService],
})
export class VirtualKeysModule {}
