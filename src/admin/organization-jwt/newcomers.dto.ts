import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsInt, Max, Min } from 'class-validator';
import {
  DEFAULT_UNKNOWN_USER_RULES,
  type UnknownUserRules,
  type UnknownPeople,
} from '../../auth/tokens/token-rules.js';
import type { WorkspaceRole } from '../../common/contracts/roles.js';
import { IfGiven, NestedList } from '../../common/http/validators.js';
import {
  GIVEN_ROLES,
  mappingOf,
  RoleMappingDto,
  shownMapping,
  WORKSPACE_ROLES,
} from '../dto-fields/role-mapping.dto.js';

const MOST_MAPPINGS = 100;
const MOST_PEOPLE = 100_000;
const UNKNOWN_PEOPLE: readonly UnknownPeople[] = ['service', 'refuse', 'create'];

/** The handling of tokens that name an unknown user. */
export class UnknownUserRulesDto {
  @ApiPropertyOptional({
    description:
      'What happens to a token of an unknown user: `service` lets it act for the workspace that it names; `refuse` refuses it; `create` creates the user if the token has an e-mail address. Default: `service`.',
    enum: UNKNOWN_PEOPLE,
    default: DEFAULT_UNKNOWN_USER_RULES.unknownPeople,
  })
  @IfGiven()
  @IsIn(UNKNOWN_PEOPLE)
  readonly unknown_people?: UnknownPeople;

  @ApiPropertyOptional({
    description: 'Roles that the groups of a user give. Default: none.',
    type: [RoleMappingDto],
    default: [],
  })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MOST_MAPPINGS)
  @NestedList(() => RoleMappingDto)
  readonly role_mappings?: RoleMappingDto[];

  @ApiPropertyOptional({
    description: 'Highest role in the organization that a token can give. Default: `member`.',
    enum: GIVEN_ROLES,
    default: DEFAULT_UNKNOWN_USER_RULES.highestRoles.organisation,
  })
  @IfGiven()
  @IsIn(GIVEN_ROLES)
  readonly highest_organisation_role?: (typeof GIVEN_ROLES)[number];

  @ApiPropertyOptional({
    description: 'Highest role in a workspace that a token can give. Default: `member`.',
    enum: WORKSPACE_ROLES,
    default: DEFAULT_UNKNOWN_USER_RULES.highestRoles.workspace,
  })
  @IfGiven()
  @IsIn(WORKSPACE_ROLES)
  readonly highest_workspace_role?: WorkspaceRole;

  @ApiPropertyOptional({
    description: 'Number of users at which tokens create no further users. Default: 10,000.',
    minimum: 1,
    maximum: MOST_PEOPLE,
    default: DEFAULT_UNKNOWN_USER_RULES.mostPeople,
  })
  @IfGiven()
  @IsInt()
  @Min(1)
  @Max(MOST_PEOPLE)
  readonly max_people?: number;
}

export function unknownUserRules(dto: UnknownUserRulesDto): UnknownUserRules {
  const { unknownPeople, highestRoles, mostPeople } = DEFAULT_UNKNOWN_USER_RULES;
  return {
    unknownPeople: dto.unknown_people ?? unknownPeople,
    roleMappings: (dto.role_mappings ?? []).map(mappingOf),
    highestRoles: {
      organisation: dto.highest_organisation_role ?? highestRoles.organisation,
      workspace: dto.highest_workspace_role ?? highestRoles.workspace,
    },
    mostPeople: dto.max_people ?? mostPeople,
  };
}

export function shownUnknownUserRules(rules: UnknownUserRules): Required<UnknownUserRulesDto> {
  return {
    unknown_people: rules.unknownPeople,
    role_mappings: rules.roleMappings.map(shownMapping),
    highest_organisation_role: rules.highestRoles.organisation,
    highest_workspace_role: rules.highestRoles.workspace,
    max_people: rules.mostPeople,
  };
}
