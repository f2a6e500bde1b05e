import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AdminDoors } from './admin-doors.js';
import { ApiKeysModule } from './api-keys/api-keys.module.js';
import { AuditModule } from './audit/audit.module.js';
import { InvitesModule } from './invites/invites.module.js';
import { LogsModule } from './logs/logs.module.js';
import { MeModule } from './me/me.module.js';
import { OrganizationsModule } from './organizations/organizations.module.js';
import { RepeatsModule } from './repeats/repeats.module.js';
import { UsersModule } from './users/users.module.js';
import { VirtualKeysModule } from './virtual-keys/virtual-keys.module.js';
import { WorkspacesModule } from './workspaces/workspaces.module.js';

/** The control plane: the list of its resources. Needs the adapters' `ApiKeyDirectory`, `ChangePublisher` and `Egress`. */
@Module({
  imports: [
    DiscoveryModule,
    AuditModule,
    RepeatsModule,
    OrganizationsModule,
    WorkspacesModule,
    UsersModule,
    InvitesModule,
    MeModule,
    ApiKeysModule,
    VirtualKeysModule,
    LogsModule,
  ],
  providers: [AdminDoors],
})
export class AdminModule {}
