import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { LegalHold } from './legal-hold.entity.js';
import { IfGiven, IsIdOrSlug, IsReason } from '../../common/http/validators.js';
import { PageQuery } from '../http/page-query.dto.js';
import { QueryChoice } from '../http/query-fields.js';
import { ApiId, ApiIdOrNull, ApiMomentOrNull, ApiTextOrNull } from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';

const STATUSES = ['active', 'released'] as const;

export type LegalHoldStatus = (typeof STATUSES)[number];

const WHY = 'Case 2030-17, letter of 4 March';

export class ListLegalHoldsQuery extends PageQuery {
  @QueryChoice(STATUSES, 'Includes only holds in this state. Default: all.')
  readonly status?: LegalHoldStatus;
}

export class CreateLegalHoldDto {
  /** The reason: a case, a letter, an order. */
  @ApiProperty({ example: WHY, maxLength: 2000 })
  @IsReason()
  readonly reason: string;

  /** Id or slug. Without one, the hold covers the whole organization, including future workspaces. */
  @ApiPropertyOptional({ example: 'ws-search' })
  @IfGiven()
  @IsIdOrSlug()
  readonly workspace_id?: string;
}

export class ReleaseLegalHoldDto {
  /** The reason for the release. */
  @ApiProperty({ example: 'Case 2030-17 is closed', maxLength: 2000 })
  @IsReason()
  readonly reason: string;
}

/** The actor: a user, or a service key. */
export class LegalHoldActorDto {
  @ApiIdOrNull()
  readonly user_id: string | null;

  @ApiIdOrNull()
  readonly api_key_id: string | null;
}

export class LegalHoldDto {
  @ApiProperty({ enum: ['legal-hold'] }) readonly object = 'legal-hold';
  @ApiId() readonly id: string;
  @ApiProperty({ enum: STATUSES }) readonly status: LegalHoldStatus;

  /** Null for the whole organization. */
  @ApiIdOrNull()
  readonly workspace_id: string | null;

  @ApiProperty({ example: WHY }) readonly reason: string;
  @ApiProperty({ type: LegalHoldActorDto }) readonly placed_by: LegalHoldActorDto;
  @ApiProperty({ format: 'date-time' }) readonly created_at: string;
  @ApiTextOrNull() readonly release_reason: string | null;
  @ApiProperty({ type: () => LegalHoldActorDto }) readonly released_by: LegalHoldActorDto;

  @ApiMomentOrNull()
  readonly released_at: string | null;

  static from(hold: LegalHold): LegalHoldDto {
    return Object.assign(new LegalHoldDto(), {
      id: hold.id,
      status: hold.releasedAt === null ? 'active' : 'released',
      workspace_id: hold.workspaceId,
      reason: hold.reason,
      placed_by: { user_id: hold.placedByUserId, api_key_id: hold.placedByKeyId },
      created_at: hold.createdAt.toISOString(),
      release_reason: hold.releaseReason,
      released_by: { user_id: hold.releasedByUserId, api_key_id: hold.releasedByKeyId },
      released_at: hold.releasedAt?.toISOString() ?? null,
    });
  }
}

export class LegalHoldListDto extends ListOf(LegalHoldDto) {
  static from(holds: readonly LegalHold[], total: number): LegalHoldListDto {
    const data = holds.map((hold) => LegalHoldDto.from(hold));
    return Object.assign(new LegalHoldListDto(), { total, data });
  }
}
