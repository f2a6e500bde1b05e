import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { KeyRevocationModule } from '../api-keys/key-revocation.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { GuardrailReferences } from '../guardrails/guardrail-references.service.js';
import { UsersModule } from '../users/users.module.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { UsableConfig } from '../configs/usable-config.service.js';
import { WorkspaceDefaultsChecker } from './workspace-defaults-checker.service.js';
import { WorkspaceRemovalService } from './workspace-removal.service.js';
import { WorkspacesController } from './workspaces.controller.js';
import { WorkspacesService } from './workspaces.service.js';
import { Guardrail } from '../guardrails/guardrail.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { User } from '../tenancy/user.entity.js';
import { Organization } from '../tenancy/organization.entity.js';
import { Config } from '../configs/config.entity.js';
import { VirtualKey } from '../virtual-keys/virtual-key.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { LegalHold } from '../legal-holds/legal-hold.entity.js';
import { RemovedWorkspaceRetention } from './removed-workspace-retention.entity.js';

@Module({
  imports: [
    AuthModule,
    KeyRevocationModule,
    LimitsModule,
    TenancyModule,
    UsersModule,
    TransactionRepositories.forFeature(
      Config,
      Guardrail,
      LegalHold,
      Organization,
      RemovedWorkspaceRetention,
      User,
      VirtualKey,
      Workspace,
      WorkspaceMember,
    ),
  ],
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
