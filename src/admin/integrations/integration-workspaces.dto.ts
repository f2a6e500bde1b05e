import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsBoolean } from 'class-validator';
import { Nested, HasNoEffectYet, IfGiven, IsIdOrSlug, NestedList } from '../../common/http/validators.js';
import { ApiId, MayTakeSlug } from '../dto-fields/fields.js';
import { Audited } from '../dto-fields/audited.js';

const NO_LIMITS = "limits of a workspace's use of an integration are not enforced yet, so none can be set";
const MOST_WORKSPACES = 1_000;

class WorkspaceAccessDto {
  @Audited('workspaces')
  @ApiProperty({ description: 'Id or slug of the workspace.', example: 'ws-default' })
  @IsIdOrSlug()
  readonly id: string;

  @Audited('workspaces')
  @ApiProperty({ description: 'Whether the workspace may use the integration.' })
  @IsBoolean()
  readonly enabled: boolean;

  @ApiPropertyOptional({
    description:
      'Whether a workspace with access gets a provider of this integration at once. Default: true.',
  })
  @IfGiven()
  @IsBoolean()
  readonly create_default_provider?: boolean;

  @MayTakeSlug('openai', 'Slug of that provider. Default: made from the slug of the integration.')
  readonly default_provider_slug?: string;

  @HasNoEffectYet(NO_LIMITS)
  readonly usage_limits?: unknown;

  @HasNoEffectYet(NO_LIMITS)
  readonly rate_limits?: unknown;

  @HasNoEffectYet(NO_LIMITS)
  readonly reset_usage?: unknown;
}

class GlobalWorkspaceAccessDto {
  @ApiProperty({ description: 'Whether these workspaces may use the integration.' })
  @IsBoolean()
  readonly enabled: boolean;

  @HasNoEffectYet(NO_LIMITS)
  readonly usage_limits?: unknown;

  @HasNoEffectYet(NO_LIMITS)
  readonly rate_limits?: unknown;
}

export class UpdateAccessDto {
  @ApiPropertyOptional({
    description: 'Access of single workspaces, at most 1,000. Others keep theirs.',
    type: [WorkspaceAccessDto],
    maxItems: MOST_WORKSPACES,
  })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MOST_WORKSPACES)
  @NestedList(() => WorkspaceAccessDto)
  readonly workspaces?: readonly WorkspaceAccessDto[];

  @ApiPropertyOptional({
    description: 'Access of all workspaces without a setting of their own, those created later included.',
    type: GlobalWorkspaceAccessDto,
  })
  @IfGiven()
  @Nested(() => GlobalWorkspaceAccessDto)
  readonly global_workspace_access?: GlobalWorkspaceAccessDto;

  @ApiPropertyOptional({
    description: 'True first removes the settings of single workspaces. Default: false.',
  })
  @IfGiven()
  @IsBoolean()
  readonly override_existing_workspace_access?: boolean;

  /** Same, in the spelling of the compatible SDK. */
  @ApiHideProperty()
  @IfGiven()
  @IsBoolean()
  readonly override_existing_workspaces_access?: boolean;

  @ApiPropertyOptional({
    description:
      'Whether a workspace with access gets a provider of this integration at once. Default: true.',
    default: true,
  })
  @IfGiven()
  @IsBoolean()
  readonly create_default_provider?: boolean;

  @MayTakeSlug('openai', 'Slug of that provider. Default: made from the slug of the integration.')
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
  @ApiId('Id of the workspace.')
  readonly id: string;

  @ApiProperty({ description: 'Name of the workspace.', example: 'Research' })
  readonly name: string;

  @ApiProperty({ description: 'Slug of the workspace.', example: 'ws-research' })
  readonly slug: string;

  @ApiProperty({ description: 'Whether the workspace may use the integration.' })
  readonly enabled: boolean;

  @ApiProperty({ description: 'Always null.', type: [Object], nullable: true, example: null })
  readonly usage_limits: null;

  @ApiProperty({ description: 'Always null.', type: [Object], nullable: true, example: null })
  readonly rate_limits: null;
}

export class IntegrationWorkspacesDto {
  @ApiProperty({ description: 'Number of matching items on all pages.', example: 1 })
  readonly total: number;

  @ApiProperty({
    description: 'Workspaces and whether each may use the integration.',
    type: [ShownAccessDto],
  })
  readonly workspaces: readonly ShownAccessDto[];

  static from(workspaces: readonly WorkspaceAccess[], total: number): IntegrationWorkspacesDto {
    const shown = workspaces.map((workspace) => ({ ...workspace, usage_limits: null, rate_limits: null }));
    return { total, workspaces: shown };
  }
}
