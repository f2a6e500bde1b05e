import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { VirtualKeysController } from './virtual-keys.controller.js';
import { VirtualKeysService } from './virtual-keys.service.js';

@Module({
  imports: [AuthModule, CredentialsModule, LimitsModule, WorkspacesModule],
  controllers: [VirtualKeysController],
  providers: [VirtualKeysService],
  exports: [VirtualKeysService],
})
export class VirtualKeysModule {}
