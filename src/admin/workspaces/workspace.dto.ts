import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayUnique, IsArray, IsObject, IsString, IsUUID, MaxLength } from 'class-validator';
import type { WorkspaceDefaults } from '../../routing-config/workspace-defaults.js';
import type { Workspace } from '../tenancy/workspace.entity.js';
import { Nested, IfGiven, IsIdOrSlug, OrNull, withoutCase } from '../../common/http/validators.js';
import {
  AN_ID,
  ApiId,
  ApiObject,
  ApiCreatedAt,
  ApiLastUpdatedAt,
  ApiTextOrNull,
  TakesName,
  MayTakeName,
  MayTakeNote,
} from '../dto-fields/fields.js';
import {
  type RateLimitDto,
  RateLimits,
  type ShownRateLimitDto,
  ShownRateLimits,
  ShownUsageLimitsDto,
  ShowsLimits,
  TakesLimits,
  UsageLimits,
  type UsageLimitsDto,
} from '../dto-fields/limit.dto.js';
import type { LogRedaction } from '../../common/contracts/log-redaction.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { ShowsRedaction, TakesRedaction } from '../dto-fields/redaction.dto.js';
import { KeepsForDays, TakesDays } from '../dto-fields/retention.dto.js';
import { NO_USAGE, shownBudgets, shownRates, type BudgetUsage } from '../limits/limits.service.js';
import { MemberDto, type MemberDetails } from './member.dto.js';
import { QueryDto } from '../http/query.dto.js';
import { QueryText, QueryChoice } from '../http/query-fields.js';
import { PageQuery } from '../http/page-query.dto.js';
import { Audited } from '../dto-fields/audited.js';
import { WorkspaceDefaultsDto } from './workspace-defaults.dto.js';

const LONGEST_CONFIRMATION = 200;
const MOST_USERS = 100;

@TakesLimits()
class WorkspaceFields {
  @MayTakeNote('Free text: what the resource is for. Null if there is none.', 'Search and ranking')
  readonly description?: string | null;

  @ApiPropertyOptional({
    description:
      'Settings for all requests of the workspace. Fields that are left out keep their value; null clears all.',
    type: WorkspaceDefaultsDto,
    nullable: true,
  })
  @OrNull()
  @IsObject()
  @Nested(() => WorkspaceDefaultsDto)
  readonly defaults?: WorkspaceDefaultsDto | null;

  @Audited()
  @TakesDays(
    'Days for which request logs are kept, 1 to 3650. Null: the value of the level above applies (organization, then installation).',
  )
  readonly log_retention_days?: number | null;

  @Audited()
  @TakesDays(
    'Days for which request and response bodies are kept, 1 to 3650; never longer than their logs. Null: the value of the level above applies.',
  )
  readonly body_retention_days?: number | null;

  @Audited()
  @TakesRedaction()
  readonly log_redaction?: LogRedaction | null;

  @UsageLimits()
  readonly usage_limits?: UsageLimitsDto[] | null;

  @RateLimits()
  readonly rate_limits?: RateLimitDto[] | null;
}

const STATUSES = ['active', 'archived'] as const;

export class ListWorkspacesQuery extends PageQuery {
  @QueryText('Includes only workspaces whose name contains this text.')
  readonly name?: string;

  @QueryText('Includes only workspaces with exactly this name.')
  readonly exact_name?: string;

  /** For the compatible SDK: workspaces are deleted and never archived. */
  @QueryChoice(STATUSES, 'Includes only workspaces in this state; none is ever archived. Default: all.')
  readonly status?: (typeof STATUSES)[number];
}

export class RemoveWorkspaceQuery extends QueryDto {
  @QueryText('Name of the workspace, as a confirmation. It can be in the body instead.')
  readonly name?: string;
}

export class CreateWorkspaceDto extends WorkspaceFields {
  @Audited()
  @TakesName('Search', 'Name of the workspace.')
  readonly name: string;

  @ApiPropertyOptional({
    description:
      'Ids of users of the organization who become members with the role `member`. Default: only the creator.',
    type: [String],
    example: [AN_ID],
  })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MOST_USERS)
  @ArrayUnique(withoutCase, { message: 'each user may be named only once' })
  @IsUUID('all', { each: true })
  readonly users?: readonly string[];
}

export class UpdateWorkspaceDto extends WorkspaceFields {
  @Audited()
  @MayTakeName('Search', 'Name of the workspace.')
  readonly name?: string;
}

export class RemoveWorkspaceDto {
  @Audited()
  @ApiPropertyOptional({
    description: 'Name of the workspace, repeated as a confirmation; or send it as `?name=`.',
    example: 'Search',
  })
  @IfGiven()
  @IsString()
  @MaxLength(LONGEST_CONFIRMATION)
  readonly name?: string;

  /** The compatible SDK repeats the id of the path here. */
  @Audited()
  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly workspace_id?: string;
}

/** A workspace as the API shows it. */
@ShowsLimits()
export class WorkspaceDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({
    description: 'Short name for use in paths, headers and configs. It never changes.',
    example: 'ws-search',
  })
  readonly slug: string;

  @ApiProperty({ description: 'Name of the workspace.', example: 'Search' })
  readonly name: string;

  @ApiTextOrNull('Free text: what the resource is for. Null if there is none.')
  readonly description: string | null;

  @ApiProperty({
    description:
      'Settings for all requests of the workspace. Fields that are left out keep their value; null clears all.',
    type: WorkspaceDefaultsDto,
  })
  readonly defaults: WorkspaceDefaults;

  @ShownRateLimits()
  readonly rate_limits: readonly ShownRateLimitDto[] | null;

  @ApiProperty({
    description:
      'Budgets: one object, a list of at most 10, or null for none. All of them apply. Default: none.',
    type: [ShownUsageLimitsDto],
    nullable: true,
    example: null,
  })
  readonly usage_limits: readonly ShownUsageLimitsDto[] | null;

  @KeepsForDays(
    'Days for which request logs are kept, 1 to 3650. Null: the value of the level above applies (organization, then installation).',
  )
  readonly log_retention_days: number | null;

  @KeepsForDays(
    'Days for which request and response bodies are kept, 1 to 3650; never longer than their logs. Null: the value of the level above applies.',
  )
  readonly body_retention_days: number | null;

  @ShowsRedaction()
  readonly log_redaction: LogRedaction | null;

  @ApiProperty({
    description: '1 for the workspace that was created with the organization, else 0.',
    enum: [0, 1],
  })
  readonly is_default: 0 | 1;

  @ApiCreatedAt()
  readonly created_at: string;

  @ApiLastUpdatedAt()
  readonly last_updated_at: string;

  @ApiObject('workspace')
  readonly object: 'workspace';

  static from(workspace: Workspace, usage: BudgetUsage = NO_USAGE): WorkspaceDto {
    return { object: 'workspace', ...shown(workspace, usage) };
  }
}

/** A workspace with its members, newest first: the first hundred of them. */
@ShowsLimits()
export class WorkspaceWithUsersDto extends WorkspaceDto {
  @ApiProperty({ description: 'The first members of the workspace, with their roles.', type: [MemberDto] })
  readonly users: readonly MemberDto[];

  @ApiProperty({
    description: 'Total number of members; the list of members contains all of them.',
    example: 1,
  })
  readonly total_users: number;

  static override from(
    workspace: Workspace,
    usage: BudgetUsage = NO_USAGE,
    [members, total]: readonly [readonly MemberDetails[], number] = [[], 0],
  ): WorkspaceWithUsersDto {
    const users = members.map((member) => MemberDto.from(member));
    return { object: 'workspace', ...shown(workspace, usage), users, total_users: total };
  }
}

function shown(workspace: Workspace, usage: BudgetUsage): Omit<WorkspaceDto, 'object'> {
  return {
    id: workspace.id,
    slug: workspace.slug,
    name: workspace.name,
    description: workspace.description,
    defaults: workspace.defaults,
    rate_limits: shownRates(workspace.rateLimits),
    usage_limits: shownBudgets(workspace.usageLimits, usage),
    log_retention_days: workspace.logRetentionDays,
    body_retention_days: workspace.bodyRetentionDays,
    log_redaction: workspace.logRedaction,
    is_default: workspace.isDefault ? 1 : 0,
    created_at: workspace.createdAt.toISOString(),
    last_updated_at: workspace.updatedAt.toISOString(),
  };
}

export class WorkspaceListDto extends ListOf(WorkspaceDto) {
  static from(
    workspaces: readonly Workspace[],
    total: number,
    usage: BudgetUsage = NO_USAGE,
  ): WorkspaceListDto {
    const data = workspaces.map((workspace) => WorkspaceDto.from(workspace, usage));
    return { object: 'list', total, data };
  }
}
