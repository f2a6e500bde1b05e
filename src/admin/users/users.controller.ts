import { Body, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { checkRepeatedId } from '../http/repeated-id.js';
import {
  ListUsersQuery,
  RemoveUserDto,
  RemoveUserQuery,
  TransferOwnershipDto,
  UpdateUserDto,
  UserDto,
  UserListDto,
} from './user.dto.js';
import { UserRemovalService } from './user-removal.service.js';
import { UsersService } from './users.service.js';

@AdminController('admin/users')
@Refusals()
export class UsersController {
  constructor(
    private readonly users: UsersService,
    private readonly removal: UserRemovalService,
  ) {}

  @Get()
  @RequireScope('organisation_users.list', 'administrators')
  @ApiOperation({
    summary: 'List users',
    description: 'Returns users with their roles and workspaces, newest first.',
  })
  @ApiOkResponse({ type: UserListDto })
  async list(@Caller() caller: Principal, @Query() query: ListUsersQuery): Promise<UserListDto> {
    return UserListDto.from(...(await this.users.list(caller, query, pageOf(query))));
  }

  @Get(':userId')
  @RequireScope('organisation_users.read', 'administrators')
  @ApiOperation({ summary: 'Read a user', description: 'Returns one user with the workspaces and roles.' })
  @ApiOkResponse({ type: UserDto })
  async get(@Caller() caller: Principal, @Param('userId') id: string): Promise<UserDto> {
    return UserDto.from(await this.users.get(caller, id));
  }

  @Put(':userId')
  @RequireScope('organisation_users.update', 'administrators')
  @RequireStepUp('role', 'status')
  @ApiOperation({
    summary: 'Change a user',
    description: 'Changes the fields that are sent. A deactivated user can neither sign in nor use API keys.',
  })
  @ApiOkResponse({ type: DoneDto })
  async update(
    @Caller() caller: Principal,
    @Param('userId') id: string,
    @Body() dto: UpdateUserDto,
  ): Promise<DoneDto> {
    await this.users.update(caller, id, dto);
    return EMPTY_RESPONSE;
  }

  @Delete(':userId')
  @RequireScope('organisation_users.delete', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Remove a user from the organization',
    description:
      'Removes the user, ends their sessions and revokes their own API keys. Service keys that they created pass to you. This cannot be undone.',
  })
  @ApiOkResponse({ type: DoneDto })
  async remove(
    @Caller() caller: Principal,
    @Param('userId') id: string,
    @Query() { confirm }: RemoveUserQuery,
    @Body() dto: RemoveUserDto,
  ): Promise<DoneDto> {
    checkRepeatedId('user_id', dto.user_id, id);
    await this.removal.remove(caller, id, dto.email ?? confirm);
    return EMPTY_RESPONSE;
  }

  @Post(':userId/transfer-ownership')
  @HttpCode(200)
  @RequireScope('organisation_users.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Make a user an owner',
    description: 'Makes the user an owner of the organization.',
  })
  @ApiOkResponse({ type: DoneDto })
  async transferOwnership(
    @Caller() caller: Principal,
    @Param('userId') id: string,
    @Body() dto: TransferOwnershipDto,
  ): Promise<DoneDto> {
    await this.users.transferOwnership(caller, id, dto.step_down);
    return EMPTY_RESPONSE;
  }
}
