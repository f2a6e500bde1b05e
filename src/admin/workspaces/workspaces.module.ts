import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { KeyRevocationModule } from '../api-keys/key-revocation.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { GuardrailReferences } from '../guardrails/guardrail-references.service.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { UsableConfig } from '../configs/usable-config.service.js';
import { WorkspaceDefaultsChecker } from './workspace-defaults-checker.service.js';
import { WorkspaceRemovalService } from './workspace-removal.service.js';
import { WorkspacesController } from './workspaces.controller.js';
import { WorkspacesService } from './workspaces.service.js';

@Module({
  imports: [AuthModule, KeyRevocationModule, LimitsModule, TenancyModule],
  controllers: [WorkspacesController, MembersController],
  providers: [
    GuardrailReferences,
    MembersService,
    UsableConfig,
    WorkspaceDefaultsChecker,
    WorkspaceRemovalService,
    WorkspacesService,
  ],
})
export class WorkspacesModule {}
