import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsObject,
  IsString,
  IsUUID,
  Length,
  MaxLength,
  ValidateNested,
} from 'class-validator';
import type { ClientDisconnectRule } from '../../common/contracts/upstream-rules.js';
import type { WorkspaceDefaults } from '../../routing-config/workspace-defaults.js';
import type { Workspace } from '../tenancy/workspace.entity.js';
import type { CacheRules } from '../../routing-config/document.js';
import { IfGiven, IsIdOrSlug, IsMetadata, OrNull, withoutCase } from '../../common/http/validators.js';
import {
  AN_ID,
  ApiId,
  ApiMoment,
  ApiTextOrNull,
  TakesName,
  MayTakeName,
  MayTakeNote,
  MayTakeDisconnectRule,
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

const MOST_GUARDRAILS = 50;
const LONGEST_REFERENCE = 128;
const LONGEST_CONFIRMATION = 200;
const MOST_USERS = 100;

export class WorkspaceDefaultsDto {
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    nullable: true,
    example: { team: 'search' },
  })
  @OrNull()
  @IsMetadata()
  readonly metadata?: Readonly<Record<string, string>> | null;

  @ApiPropertyOptional({ type: [String], nullable: true, example: [] })
  @OrNull()
  @IsArray()
  @ArrayMaxSize(MOST_GUARDRAILS)
  @IsString({ each: true })
  @Length(1, LONGEST_REFERENCE, { each: true })
  readonly input_guardrails?: readonly string[] | null;

  @ApiPropertyOptional({ type: [String], nullable: true, example: [] })
  @OrNull()
  @IsArray()
  @ArrayMaxSize(MOST_GUARDRAILS)
  @IsString({ each: true })
  @Length(1, LONGEST_REFERENCE, { each: true })
  readonly output_guardrails?: readonly string[] | null;

  @ApiPropertyOptional({ type: String, nullable: true, example: null })
  @OrNull()
  @IsString()
  @Length(1, LONGEST_REFERENCE)
  readonly user_api_key_config?: string | null;

  /** The response cache for configs and requests without their own setting. Null: no default. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    example: { mode: 'simple', max_age: 3600 },
  })
  @OrNull()
  @IsObject()
  readonly cache?: CacheRules | null;

  /**
   * What happens to a request whose client disconnects, unless its config or virtual key has its own rule: `cancel` (also when null) ends
   * it and charges what arrived, as an estimate; `finish` reads the response to its end and charges what the provider reports.
   */
  @MayTakeDisconnectRule()
  readonly on_client_disconnect?: ClientDisconnectRule | null;
}

@TakesLimits()
class WorkspaceFields {
  @MayTakeNote('Search and ranking')
  readonly description?: string | null;

  /**
   * Defaults for all requests of the workspace: metadata, which overrides their own; guardrails, which apply before those of configs; the
   * config for users' keys that have none; and the response cache where nothing else sets it. Omitted fields stay unchanged; null removes
   * all defaults.
   */
  @ApiPropertyOptional({ type: WorkspaceDefaultsDto, nullable: true })
  @OrNull()
  @IsObject()
  @ValidateNested()
  @Type(() => WorkspaceDefaultsDto)
  readonly defaults?: WorkspaceDefaultsDto | null;

  /** Retention of the workspace's request logs in days; null for its organization's. */
  @TakesDays()
  readonly log_retention_days?: number | null;

  /** The same for request and response bodies. They are kept no longer than their logs. */
  @TakesDays()
  readonly body_retention_days?: number | null;

  /** Content of the workspace's requests that the log must not keep, in addition to the organization's rules. */
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
  @TakesName('Search')
  readonly name: string;

  /** Users of the organization who become members. Use the member operations for other roles. */
  @ApiPropertyOptional({ type: [String], example: [AN_ID] })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MOST_USERS)
  @ArrayUnique(withoutCase, { message: 'each user may be named only once' })
  @IsUUID('all', { each: true })
  readonly users?: readonly string[];
}

export class UpdateWorkspaceDto extends WorkspaceFields {
  @MayTakeName('Search')
  readonly name?: string;
}

export class RemoveWorkspaceDto {
  /** The name of the workspace, repeated as confirmation; or send it as `?name=`. */
  @ApiPropertyOptional({ example: 'Search' })
  @IfGiven()
  @IsString()
  @MaxLength(LONGEST_CONFIRMATION)
  readonly name?: string;

  /** The compatible SDK repeats the id of the path here. */
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

  @ApiProperty({ example: 'ws-search' })
  readonly slug: string;

  @ApiProperty({ example: 'Search' })
  readonly name: string;

  @ApiTextOrNull()
  readonly description: string | null;

  @ApiProperty({ type: WorkspaceDefaultsDto })
  readonly defaults: WorkspaceDefaults;

  @ShownRateLimits()
  readonly rate_limits: readonly ShownRateLimitDto[] | null;

  @ApiProperty({ type: [ShownUsageLimitsDto], nullable: true, example: null })
  readonly usage_limits: readonly ShownUsageLimitsDto[] | null;

  /** Retention of the workspace's request logs in days; null for its organization's. */
  @KeepsForDays()
  readonly log_retention_days: number | null;

  /** The same for bodies. */
  @KeepsForDays()
  readonly body_retention_days: number | null;

  /** Content of its requests that the log does not keep, in addition to the organization's rules. */
  @ShowsRedaction()
  readonly log_redaction: LogRedaction | null;

  /** 1 for the organization's initial workspace. */
  @ApiProperty({ enum: [0, 1] })
  readonly is_default: 0 | 1;

  @ApiMoment()
  readonly created_at: string;

  @ApiMoment()
  readonly last_updated_at: string;

  @ApiProperty({ enum: ['workspace'] })
  readonly object = 'workspace';

  static from(workspace: Workspace, usage: BudgetUsage = NO_USAGE): WorkspaceDto {
    return Object.assign(new WorkspaceDto(), shown(workspace, usage));
  }
}

/** A workspace with its members, newest first: the first hundred of them. */
@ShowsLimits()
export class WorkspaceWithUsersDto extends WorkspaceDto {
  @ApiProperty({ type: [MemberDto] })
  readonly users: readonly MemberDto[];

  /** The total number of members; the list of members has pages. */
  @ApiProperty({ example: 1 })
  readonly total_users: number;

  static override from(
    workspace: Workspace,
    usage: BudgetUsage = NO_USAGE,
    [members, total]: readonly [readonly MemberDetails[], number] = [[], 0],
  ): WorkspaceWithUsersDto {
    const users = members.map((member) => MemberDto.from(member));
    return Object.assign(new WorkspaceWithUsersDto(), {
      ...shown(workspace, usage),
      users,
      total_users: total,
    });
  }
}

function shown(workspace: Workspace, usage: BudgetUsage) {
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
    return Object.assign(new WorkspaceListDto(), { total, data });
  }
}
