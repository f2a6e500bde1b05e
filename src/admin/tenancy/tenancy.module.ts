import { Module } from '@nestjs/common';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { WorkspaceFinder } from './workspace-finder.service.js';
import { Workspace } from './workspace.entity.js';

/** The organization, its workspaces and its users, for all resources. */
@Module({
  imports: [TransactionRepositories.forFeature(Workspace)],
  providers: [WorkspaceFinder],
  exports: [WorkspaceFinder],
})
export class TenancyModule {}
