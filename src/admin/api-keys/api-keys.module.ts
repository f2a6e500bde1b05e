import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { UsageReadingModule } from '../../request-log/analytics/usage-reading.module.js';
import { UsableConfig } from '../configs/usable-config.service.js';
import { LimitsModule } from '../limits/limits.module.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysService } from './api-keys.service.js';
import { KeyDefaultsService } from './key-defaults.service.js';
import { KeyOwnerService } from './key-owner.service.js';
import { KeyUseService } from './key-use.service.js';
import { RotateApiKeyController } from './rotate-api-key.controller.js';
import { UserKeysService } from './user-keys.service.js';

@Module({
  imports: [AuthModule, CryptoModule, LimitsModule, UsageReadingModule, TenancyModule],
  controllers: [ApiKeysController, RotateApiKeyController],
  providers: [
    ApiKeysService,
    KeyDefaultsService,
    KeyOwnerService,
    KeyUseService,
    UsableConfig,
    UserKeysService,
  ],
  exports: [ApiKeysService, UserKeysService],
})
export class ApiKeysModule {}
