import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { LegalHold } from './legal-hold.entity.js';
import { IfGiven, IsIdOrSlug, IsReason } from '../../common/http/validators.js';
import { PageQuery } from '../http/page-query.dto.js';
import { QueryChoice } from '../http/query-fields.js';
import {
  ApiId,
  ApiIdOrNull,
  ApiMomentOrNull,
  ApiTextOrNull,
  ApiObject,
  ApiCreatedAt,
} from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { Audited } from '../dto-fields/audited.js';

const STATUSES = ['active', 'released'] as const;

export type LegalHoldStatus = (typeof STATUSES)[number];

const WHY = 'Case 2030-17, letter of 4 March';

export class ListLegalHoldsQuery extends PageQuery {
  @QueryChoice(STATUSES, 'Includes only holds in this state. Default: all.')
  readonly status?: LegalHoldStatus;
}

export class CreateLegalHoldDto {
  @Audited()
  @ApiProperty({
    description: 'Why the log must be kept, such as a case or an order.',
    example: WHY,
    maxLength: 2000,
  })
  @IsReason()
  readonly reason: string;

  @Audited()
  @ApiPropertyOptional({
    description:
      'Id or slug of the workspace. Left out, the hold covers the whole organization, including workspaces created later.',
    example: 'ws-search',
  })
  @IfGiven()
  @IsIdOrSlug()
  readonly workspace_id?: string;
}

export class ReleaseLegalHoldDto {
  @Audited()
  @ApiProperty({
    description: 'Why the log need not be kept any longer.',
    example: 'Case 2030-17 is closed',
    maxLength: 2000,
  })
  @IsReason()
  readonly reason: string;
}

/** The actor: a user, or a service key. */
export class LegalHoldActorDto {
  @ApiIdOrNull('Id of the user. Null if there is none.')
  readonly user_id: string | null;

  @ApiIdOrNull('Id of the API key. Null if none was used.')
  readonly api_key_id: string | null;
}

export class LegalHoldDto {
  @ApiObject('legal-hold') readonly object: 'legal-hold';
  @ApiId() readonly id: string;
  @ApiProperty({ description: 'Current state of the resource.', enum: STATUSES })
  readonly status: LegalHoldStatus;

  @ApiIdOrNull('Id of the workspace. Null: the hold covers the whole organization.')
  readonly workspace_id: string | null;

  @ApiProperty({ description: 'Why the log must be kept, such as a case or an order.', example: WHY })
  readonly reason: string;
  @ApiProperty({ description: 'User or API key that placed the hold.', type: LegalHoldActorDto })
  readonly placed_by: LegalHoldActorDto;
  @ApiCreatedAt() readonly created_at: string;
  @ApiTextOrNull('Why the hold was released. Null while it is active.') readonly release_reason:
    string | null;
  @ApiProperty({
    description: 'User or API key that released the hold. Null while it is active.',
    type: () => LegalHoldActorDto,
  })
  readonly released_by: LegalHoldActorDto;

  @ApiMomentOrNull('Time of release. Null while the hold is active.')
  readonly released_at: string | null;

  static from(hold: LegalHold): LegalHoldDto {
    return {
      object: 'legal-hold',
      id: hold.id,
      status: hold.releasedAt === null ? 'active' : 'released',
      workspace_id: hold.workspaceId,
      reason: hold.reason,
      placed_by: { user_id: hold.placedByUserId, api_key_id: hold.placedByKeyId },
      created_at: hold.createdAt.toISOString(),
      release_reason: hold.releaseReason,
      released_by: { user_id: hold.releasedByUserId, api_key_id: hold.releasedByKeyId },
      released_at: hold.releasedAt?.toISOString() ?? null,
    };
  }
}

export class LegalHoldListDto extends ListOf(LegalHoldDto) {
  static from(holds: readonly LegalHold[], total: number): LegalHoldListDto {
    const data = holds.map((hold) => LegalHoldDto.from(hold));
    return { object: 'list', total, data };
  }
}
