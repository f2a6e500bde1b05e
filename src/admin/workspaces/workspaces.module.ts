import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { KeyRevocationModule } from '../api-keys/key-revocation.module.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { WorkspaceRemovalService } from './workspace-removal.service.js';
import { WorkspacesController } from './workspaces.controller.js';
import { WorkspacesService } from './workspaces.service.js';

@Module({
  imports: [AuthModule, KeyRevocationModule],
  controllers: [WorkspacesController, MembersController],
  providers: [MembersService, WorkspaceRemovalService, WorkspacesService],
  exports: [WorkspacesService],
})
export class WorkspacesModule {}
