import { Body, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { checkRepeatedId } from '../http/repeated-id.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import {
  AddMembersDto,
  ListMembersQuery,
  MemberDto,
  MemberListDto,
  RemoveMemberDto,
  UpdateMemberDto,
} from './member.dto.js';
import { MembersService } from './members.service.js';
import { WorkspaceParameter } from './workspace-parameter.js';

@AdminController('admin/workspaces/:workspaceId/users', 'organisation')
@Refusals()
export class MembersController {
  constructor(
    private readonly members: MembersService,
    private readonly workspaces: WorkspaceFinder,
  ) {}

  @Get()
  @RequireScope('workspace_users.list')
  @ApiOperation({
    summary: 'List the members of a workspace',
    description: 'Returns the members with their roles.',
  })
  @ApiOkResponse({ type: MemberListDto })
  @WorkspaceParameter
  async list(
    @Caller() caller: Principal,
    @Param('workspaceId') workspace: string,
    @Query() query: ListMembersQuery,
  ): Promise<MemberListDto> {
    // The compatible SDK repeats the id of the path.
    checkRepeatedId('workspaceId', query.workspaceId, workspace);
    const tenant = await this.workspaces.tenantFor(caller, workspace);
    return MemberListDto.from(...(await this.members.list(tenant, query, pageOf(query))));
  }

  @Post()
  @HttpCode(200)
  @RequireScope('workspace_users.create', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Add members to a workspace',
    description: 'Gives users of the organization a role in the workspace.',
  })
  @ApiOkResponse({ type: DoneDto })
  @WorkspaceParameter
  async add(
    @Caller() caller: Principal,
    @Param('workspaceId') workspace: string,
    @Body() dto: AddMembersDto,
  ): Promise<DoneDto> {
    checkRepeatedId('workspace_id', dto.workspace_id, workspace);
    await this.members.add(caller, await this.workspaces.tenantFor(caller, workspace), dto.users);
    return EMPTY_RESPONSE;
  }

  @Get(':userId')
  @RequireScope('workspace_users.read')
  @ApiOperation({
    summary: 'Read a member',
    description: 'Returns one member with the role and what it allows.',
  })
  @ApiOkResponse({ type: MemberDto })
  @WorkspaceParameter
  async get(
    @Caller() caller: Principal,
    @Param('workspaceId') workspace: string,
    @Param('userId') id: string,
  ): Promise<MemberDto> {
    return MemberDto.from(await this.members.get(await this.workspaces.tenantFor(caller, workspace), id));
  }

  @Put(':userId')
  @RequireScope('workspace_users.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Change the role of a member',
    description: 'Changes the role at once, also for API keys of the member.',
  })
  @ApiOkResponse({ type: DoneDto })
  @WorkspaceParameter
  async update(
    @Caller() caller: Principal,
    @Param('workspaceId') workspace: string,
    @Param('userId') id: string,
    @Body() dto: UpdateMemberDto,
  ): Promise<DoneDto> {
    checkRepeatedId('workspace_id', dto.workspace_id, workspace);
    checkRepeatedId('user_id', dto.user_id, id);
    await this.members.update(caller, await this.workspaces.tenantFor(caller, workspace), id, dto.role);
    return EMPTY_RESPONSE;
  }

  @Delete(':userId')
  @RequireScope('workspace_users.delete', 'administrators')
  @ApiOperation({
    summary: 'Remove a member',
    description:
      'Removes the user from the workspace and revokes the API keys that belong to the user there.',
  })
  @ApiOkResponse({ type: DoneDto })
  @WorkspaceParameter
  async remove(
    @Caller() caller: Principal,
    @Param('workspaceId') workspace: string,
    @Param('userId') id: string,
    @Body() dto: RemoveMemberDto,
  ): Promise<DoneDto> {
    checkRepeatedId('workspace_id', dto.workspace_id, workspace);
    checkRepeatedId('user_id', dto.user_id, id);
    await this.members.remove(await this.workspaces.tenantFor(caller, workspace), id);
    return EMPTY_RESPONSE;
  }
}
