import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsBoolean, ValidateNested } from 'class-validator';
import { HasNoEffectYet, IfGiven, IsIdOrSlug, ValidateEach } from '../../common/http/validators.js';
import { MayTakeSlug } from '../dto-fields/fields.js';

const NO_LIMITS = "limits of a workspace's use of an integration are not enforced yet, so none can be set";
const MOST_WORKSPACES = 1_000;

class WorkspaceAccessDto {
  /** Id or slug. */
  @ApiProperty({ example: 'ws-default' })
  @IsIdOrSlug()
  readonly id: string;

  @ApiProperty()
  @IsBoolean()
  readonly enabled: boolean;

  @ApiPropertyOptional()
  @IfGiven()
  @IsBoolean()
  readonly create_default_provider?: boolean;

  @MayTakeSlug('openai')
  readonly default_provider_slug?: string;

  @HasNoEffectYet(NO_LIMITS)
  readonly usage_limits?: unknown;

  @HasNoEffectYet(NO_LIMITS)
  readonly rate_limits?: unknown;

  @HasNoEffectYet(NO_LIMITS)
  readonly reset_usage?: unknown;
}

class GlobalWorkspaceAccessDto {
  @ApiProperty()
  @IsBoolean()
  readonly enabled: boolean;

  @HasNoEffectYet(NO_LIMITS)
  readonly usage_limits?: unknown;

  @HasNoEffectYet(NO_LIMITS)
  readonly rate_limits?: unknown;
}

export class UpdateAccessDto {
  @ApiPropertyOptional({ type: [WorkspaceAccessDto], maxItems: MOST_WORKSPACES })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MOST_WORKSPACES)
  @ValidateEach()
  @Type(() => WorkspaceAccessDto)
  readonly workspaces?: readonly WorkspaceAccessDto[];

  /** For workspaces without their own setting, including future ones. */
  @ApiPropertyOptional({ type: GlobalWorkspaceAccessDto })
  @IfGiven()
  @ValidateNested()
  @Type(() => GlobalWorkspaceAccessDto)
  readonly global_workspace_access?: GlobalWorkspaceAccessDto;

  /** Deletes the settings of single workspaces first. */
  @ApiPropertyOptional()
  @IfGiven()
  @IsBoolean()
  readonly override_existing_workspace_access?: boolean;

  /** Same, in the spelling of the compatible SDK. */
  @ApiHideProperty()
  @IfGiven()
  @IsBoolean()
  readonly override_existing_workspaces_access?: boolean;

  /** Whether workspaces that get access also get a provider of it. */
  @ApiPropertyOptional({ default: true })
  @IfGiven()
  @IsBoolean()
  readonly create_default_provider?: boolean;

  @MayTakeSlug('openai')
  readonly default_provider_slug?: string;
}

/** A workspace, and whether it may use an integration. */
export interface WorkspaceAccess {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly enabled: boolean;
}

class ShownAccessDto implements WorkspaceAccess {
  @ApiProperty({ format: 'uuid' })
  readonly id: string;

  @ApiProperty({ example: 'Research' })
  readonly name: string;

  @ApiProperty({ example: 'ws-research' })
  readonly slug: string;

  @ApiProperty()
  readonly enabled: boolean;

  @ApiProperty({ type: [Object], nullable: true, example: null })
  readonly usage_limits: null;

  @ApiProperty({ type: [Object], nullable: true, example: null })
  readonly rate_limits: null;
}

export class IntegrationWorkspacesDto {
  @ApiProperty({ example: 1 })
  readonly total: number;

  @ApiProperty({ type: [ShownAccessDto] })
  readonly workspaces: readonly ShownAccessDto[];

  static from(workspaces: readonly WorkspaceAccess[], total: number): IntegrationWorkspacesDto {
    const shown = workspaces.map((workspace) => ({ ...workspace, usage_limits: null, rate_limits: null }));
    return Object.assign(new IntegrationWorkspacesDto(), { total, workspaces: shown });
  }
}
