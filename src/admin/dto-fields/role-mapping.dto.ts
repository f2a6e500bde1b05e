import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsString, Length } from 'class-validator';
import type { RoleMapping } from '../../auth/tokens/token-rules.js';
import type { WorkspaceRole } from '../../common/contracts/roles.js';
import { IfGiven, IsIdOrSlug } from '../../common/http/validators.js';
import { Audited } from './audited.js';

const LONGEST_VALUE = 255;
export const GIVEN_ROLES = ['member', 'admin'] as const;
export const WORKSPACE_ROLES: readonly WorkspaceRole[] = ['member', 'manager', 'admin'];

/** The roles that a value of the roles claim gives a user. */
export class RoleMappingDto {
  @Audited('role_mappings')
  @ApiProperty({
    description: 'Name of the group or role, as the identity provider or the token sends it.',
    example: 'search-team',
  })
  @IsString()
  @Length(1, LONGEST_VALUE)
  readonly value: string;

  @Audited('role_mappings')
  @ApiPropertyOptional({
    description: 'Role in the organization that the group gives. Default: `member`.',
    enum: GIVEN_ROLES,
  })
  @IfGiven()
  @IsIn(GIVEN_ROLES)
  readonly organisation_role?: (typeof GIVEN_ROLES)[number];

  @Audited('role_mappings')
  @ApiPropertyOptional({
    description: 'Id or slug of the workspace. A workspace that does not exist is ignored.',
    example: 'ws-search',
  })
  @IfGiven()
  @IsIdOrSlug()
  readonly workspace_id?: string;

  @Audited('role_mappings')
  @ApiPropertyOptional({ description: 'Role in the workspace that the group gives.', enum: WORKSPACE_ROLES })
  @IfGiven()
  @IsIn(WORKSPACE_ROLES)
  readonly workspace_role?: WorkspaceRole;
}

export const mappingOf = (dto: RoleMappingDto): RoleMapping => ({
  value: dto.value,
  organisationRole: dto.organisation_role,
  workspace: dto.workspace_id,
  workspaceRole: dto.workspace_role,
});

export const shownMapping = (mapping: RoleMapping): RoleMappingDto => {
  const { value, organisationRole, workspace, workspaceRole } = mapping;
  return {
    value,
    ...(organisationRole === undefined ? {} : { organisation_role: organisationRole }),
    ...(workspace === undefined ? {} : { workspace_id: workspace }),
    ...(workspaceRole === undefined ? {} : { workspace_role: workspaceRole }),
  };
};
