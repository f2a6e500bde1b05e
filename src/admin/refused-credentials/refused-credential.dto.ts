import { ApiProperty } from '@nestjs/swagger';
import { REFUSAL_REASONS, type RefusalReason } from '../../auth/identity/recent-refusals.js';
import { ApiId, ApiIdOrNull, ApiMoment } from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import type { RefusedCredential } from './refused-credential.entity.js';

export class RefusedCredentialDto {
  @ApiProperty({ enum: ['refused-credential'] })
  readonly object = 'refused-credential';

  @ApiId()
  readonly id: string;

  @ApiProperty({ enum: REFUSAL_REASONS, example: 'revoked' })
  readonly reason: RefusalReason;

  @ApiProperty({ type: String, nullable: true, example: '203.0.113.7' })
  readonly address: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'x7Qk' })
  readonly last_four: string | null;

  @ApiIdOrNull()
  readonly api_key_id: string | null;

  @ApiProperty({ type: String, nullable: true, example: '/v1/chat/completions' })
  readonly path: string | null;

  @ApiProperty({ example: 412 })
  readonly requests: number;

  @ApiMoment()
  readonly first_at: string;

  @ApiMoment()
  readonly last_at: string;

  static from(row: RefusedCredential): RefusedCredentialDto {
    return Object.assign(new RefusedCredentialDto(), {
      id: row.id,
      reason: row.reason,
      address: row.address || null,
      last_four: row.lastFour || null,
      api_key_id: row.apiKeyId,
      path: row.path || null,
      requests: Number(row.requests),
      first_at: row.firstAt.toISOString(),
      last_at: row.lastAt.toISOString(),
    });
  }
}

/** The sum of the rows that match, on all pages. */
export class RefusedCredentialListDto extends ListOf(RefusedCredentialDto) {
  @ApiProperty({ example: 9_214 })
  readonly requests: number;

  static from(
    rows: readonly RefusedCredential[],
    { total, requests }: Pick<RefusedCredentialListDto, 'total' | 'requests'>,
  ): RefusedCredentialListDto {
    const data = rows.map((row) => RefusedCredentialDto.from(row));
    return Object.assign(new RefusedCredentialListDto(), { total, requests, data });
  }
}
