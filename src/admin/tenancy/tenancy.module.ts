import { Module } from '@nestjs/common';
import { WorkspaceFinder } from './workspace-finder.service.js';

/** The organization, its workspaces and its users, for all resources. */
@Module({ providers: [WorkspaceFinder], exports: [WorkspaceFinder] })
export class TenancyModule {}
