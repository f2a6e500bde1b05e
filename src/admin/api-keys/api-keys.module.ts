import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { UsageReadingModule } from '../../request-log/analytics/usage-reading.module.js';
import { UsableConfig } from '../configs/usable-config.service.js';
import { LimitsModule } from '../limits/limits.module.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysService } from './api-keys.service.js';
import { KeyAuthorityService } from './key-authority.service.js';
import { KeyBoundsService } from './key-bounds.service.js';
import { KeyDefaultsService } from './key-defaults.service.js';
import { KeyListService } from './key-list.service.js';
import { KeyOwnerService } from './key-owner.service.js';
import { KeyUseService } from './key-use.service.js';
import { RotateApiKeyController } from './rotate-api-key.controller.js';
import { UserKeysService } from './user-keys.service.js';
import { ApiKey } from './api-key.entity.js';
import { User } from '../tenancy/user.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { Config } from '../configs/config.entity.js';

@Module({
  imports: [
    AuthModule,
    CryptoModule,
    LimitsModule,
    UsageReadingModule,
    TenancyModule,
    TransactionRepositories.forFeature(ApiKey, Config, User, WorkspaceMember),
  ],
  controllers: [ApiKeysController, RotateApiKeyController],
  providers: [
    ApiKeysService,
    KeyAuthorityService,
    KeyBoundsService,
    KeyDefaultsService,
    KeyListService,
    KeyOwnerService,
    KeyUseService,
    UsableConfig,
    UserKeysService,
  ],
  exports: [ApiKeysService, KeyBoundsService, UserKeysService],
})
export class ApiKeysModule {}
