import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { CredentialSealer } from './credential-sealer.js';
import { VirtualKeysController } from './virtual-keys.controller.js';
import { VirtualKeysService } from './virtual-keys.service.js';

@Module({
  imports: [AuthModule, CryptoModule, LimitsModule, WorkspacesModule],
  controllers: [VirtualKeysController],
  providers: [VirtualKeysService, CredentialSealer],
  exports: [VirtualKeysService],
})
export class VirtualKeysModule {}
