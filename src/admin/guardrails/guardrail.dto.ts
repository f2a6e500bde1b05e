import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsArray, IsObject, IsUUID } from 'class-validator';
import type { Guardrail } from './guardrail.entity.js';
import { IfGiven } from '../../common/http/validators.js';
import {
  AN_ID,
  ApiId,
  ApiIdOrNull,
  ApiCreatedAt,
  ApiLastUpdatedAt,
  TakesName,
  MayTakeName,
  MayTakeSlug,
  MayTakeWorkspace,
} from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { QueryOrganization } from '../http/query-fields.js';
import { WorkspacePageQuery } from '../http/page-query.dto.js';
import { Audited } from '../dto-fields/audited.js';

const A_CHECK = {
  id: 'default.contains',
  parameters: { operator: 'none', words: ['Apollo'] },
  is_enabled: true,
};
const ACTIONS = { deny: true, async: false, on_fail: { feedback: { value: -5, weight: 1 } } };

/** Checks and actions are validated by the same contract as in configs, which reports all mistakes at once. */
export class ListGuardrailsQuery extends WorkspacePageQuery {
  @QueryOrganization()
  readonly organisation_id?: string;
}

export class CreateGuardrailDto {
  @Audited()
  @TakesName('No project names', 'Name of the guardrail.')
  readonly name: string;

  @Audited()
  @MayTakeSlug('no-project-names')
  readonly slug?: string;

  @ApiProperty({
    description: 'Checks that the guardrail runs, with their parameters. `***` in a change keeps a secret.',
    type: [Object],
    minItems: 1,
    example: [A_CHECK],
  })
  @IsArray()
  readonly checks: readonly unknown[];

  @ApiPropertyOptional({
    description:
      'Consequences of the verdict: whether to deny, whether to wait, and which feedback to store.',
    type: Object,
    example: ACTIONS,
  })
  @IfGiven()
  @IsObject()
  readonly actions?: Readonly<Record<string, unknown>>;

  @MayTakeWorkspace()
  readonly workspace_id?: string;

  @Audited()
  @ApiPropertyOptional({
    description:
      'Id of the organization, for a guardrail of all its workspaces. Give either this or `workspace_id`.',
    format: 'uuid',
    example: AN_ID,
  })
  @IfGiven()
  @IsUUID()
  readonly organisation_id?: string;
}

/** Omitted fields stay unchanged. */
export class UpdateGuardrailDto {
  @Audited()
  @MayTakeName('No project names', 'Name of the guardrail.')
  readonly name?: string;

  @ApiPropertyOptional({
    description: 'Checks that the guardrail runs, with their parameters. `***` in a change keeps a secret.',
    type: [Object],
    minItems: 1,
    example: [A_CHECK],
  })
  @IfGiven()
  @IsArray()
  readonly checks?: readonly unknown[];

  @ApiPropertyOptional({
    description:
      'Consequences of the verdict: whether to deny, whether to wait, and which feedback to store.',
    type: Object,
    example: ACTIONS,
  })
  @IfGiven()
  @IsObject()
  readonly actions?: Readonly<Record<string, unknown>>;
}

export class SavedGuardrailDto {
  @ApiId() readonly id: string;
  @ApiProperty({
    description: 'Short name for use in paths, headers and configs. It never changes.',
    example: 'pg-3f9a1c0b7d',
  })
  readonly slug: string;
  @ApiId('Id of this version.') readonly version_id: string;

  static from({ id, slug, versionId }: Guardrail): SavedGuardrailDto {
    return { id, slug, version_id: versionId };
  }
}

/** A guardrail in a list. */
export class GuardrailSummaryDto {
  @ApiId() readonly id: string;
  @ApiProperty({
    description: 'Short name for use in paths, headers and configs. It never changes.',
    example: 'pg-3f9a1c0b7d',
  })
  readonly slug: string;
  @ApiProperty({ description: 'Name of the guardrail.', example: 'No project names' }) readonly name: string;
  @ApiId('Id of the organization.') readonly organisation_id: string;
  @ApiIdOrNull('Id of the workspace. Null if the resource belongs to the whole organization.')
  readonly workspace_id: string | null;
  @ApiProperty({ description: 'Current state of the resource.', enum: ['active', 'archived'] })
  readonly status: 'active';
  @ApiCreatedAt() readonly created_at: string;
  @ApiLastUpdatedAt() readonly last_updated_at: string;
  @ApiId('Id of the user or API key that created the resource. Null if it is unknown.')
  readonly owner_id: string;
  @ApiIdOrNull('Id of the user or API key that made the last change. Null if it was never changed.', null)
  readonly updated_by: string | null;

  static of(row: Guardrail): GuardrailSummaryDto {
    return { status: 'active', ...summary(row) };
  }
}

function summary(row: Guardrail) {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    organisation_id: row.organizationId,
    workspace_id: row.workspaceId,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.updatedAt.toISOString(),
    owner_id: row.ownerId,
    updated_by: row.updatedBy,
  };
}

/** A guardrail with its checks, with secrets shown as `***`. */
export class GuardrailDto extends GuardrailSummaryDto {
  @ApiId('Id of this version.') readonly version_id: string;
  @ApiProperty({
    description: 'Checks that the guardrail runs, with their parameters. `***` in a change keeps a secret.',
    type: [Object],
    example: [A_CHECK],
  })
  readonly checks: Guardrail['checks'];
  @ApiProperty({
    description:
      'Consequences of the verdict: whether to deny, whether to wait, and which feedback to store.',
    type: Object,
    example: ACTIONS,
  })
  readonly actions: Guardrail['actions'];

  static from(row: Guardrail): GuardrailDto {
    const { checks, actions, versionId: version_id } = row;
    return { status: 'active', ...summary(row), version_id, checks, actions };
  }
}

export class GuardrailListDto extends ListOf(GuardrailSummaryDto) {
  static from(rows: readonly Guardrail[], total: number): GuardrailListDto {
    const data = rows.map((row) => GuardrailSummaryDto.of(row));
    return { object: 'list', total, data };
  }
}
