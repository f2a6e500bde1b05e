import { Module } from '@nestjs/common';
import { WorkspaceFinder } from './workspace-finder.service.js';

/** The organization, its workspaces and its people, as every resource needs them. */
@Module({ providers: [WorkspaceFinder], exports: [WorkspaceFinder] })
export class TenancyModule {}
