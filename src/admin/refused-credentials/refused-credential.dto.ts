import { ApiProperty } from '@nestjs/swagger';
import { REFUSAL_REASONS, type RefusalReason } from '../../auth/identity/recent-refusals.js';
import { ApiId, ApiIdOrNull, ApiMoment, ApiObject } from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import type { RefusedCredential } from './refused-credential.entity.js';

export class RefusedCredentialDto {
  @ApiObject('refused-credential')
  readonly object: 'refused-credential';

  @ApiId()
  readonly id: string;

  @ApiProperty({ description: 'Why the requests were refused.', enum: REFUSAL_REASONS, example: 'revoked' })
  readonly reason: RefusalReason;

  @ApiProperty({
    description:
      'IP address of the client. Null: all addresses and credentials that have no row of their own.',
    type: String,
    nullable: true,
    example: '203.0.113.7',
  })
  readonly address: string | null;

  @ApiProperty({
    description:
      'Last four characters of the presented credential. Null without one, or for one of less than 16 characters.',
    type: String,
    nullable: true,
    example: 'x7Qk',
  })
  readonly last_four: string | null;

  @ApiIdOrNull(
    'Id of the API key that was presented, if it has expired, was revoked or was replaced. Null for every other credential.',
  )
  readonly api_key_id: string | null;

  @ApiProperty({
    description:
      'Path of one of the requests, without its query. Segments of more than 24 characters are masked.',
    type: String,
    nullable: true,
    example: '/v1/chat/completions',
  })
  readonly path: string | null;

  @ApiProperty({ description: 'Number of these requests.', example: 412 })
  readonly requests: number;

  @ApiMoment('Time of the first of these requests.')
  readonly first_at: string;

  @ApiMoment('Time of the last of these requests.')
  readonly last_at: string;

  static from(row: RefusedCredential): RefusedCredentialDto {
    return {
      object: 'refused-credential',
      id: row.id,
      reason: row.reason,
      address: row.address || null,
      last_four: row.lastFour || null,
      api_key_id: row.apiKeyId,
      path: row.path || null,
      requests: Number(row.requests),
      first_at: row.firstAt.toISOString(),
      last_at: row.lastAt.toISOString(),
    };
  }
}

/** The sum of the rows that match, on all pages. */
export class RefusedCredentialListDto extends ListOf(RefusedCredentialDto) {
  @ApiProperty({
    description: 'Number of refused requests in all rows that match, on all pages.',
    example: 9_214,
  })
  readonly requests: number;

  static from(
    rows: readonly RefusedCredential[],
    { total, requests }: Pick<RefusedCredentialListDto, 'total' | 'requests'>,
  ): RefusedCredentialListDto {
    const data = rows.map((row) => RefusedCredentialDto.from(row));
    return { object: 'list', total, requests, data };
  }
}
