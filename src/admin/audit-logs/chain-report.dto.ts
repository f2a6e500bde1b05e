import { ApiProperty } from '@nestjs/swagger';
import type { PartReport } from '../audit/chain-verification.service.js';
import { ApiObject } from '../dto-fields/fields.js';

const PROBLEMS = ['missing', 'changed', 'forged', 'cut', 'set_back'] as const;

/** Result of checking a part of the audit log. */
export class ChainReportDto {
  @ApiObject('audit-chain-report')
  readonly object: 'audit-chain-report';

  @ApiProperty({ description: 'Number of the last record that is intact.', example: 1204 })
  readonly verified_up_to: number;

  @ApiProperty({ description: 'Number of records of the organization.', example: 1204 })
  readonly total: number;

  @ApiProperty({
    description:
      'Number to send as `after` to check the next part. Null after the last part, or if a record is not intact.',
    type: Number,
    nullable: true,
    example: null,
  })
  readonly next_after: number | null;

  @ApiProperty({
    description: 'Number of the first record that is not intact. Null if all are.',
    type: Number,
    nullable: true,
    example: null,
  })
  readonly broken_at: number | null;

  @ApiProperty({
    description:
      '`missing`: a record is missing. `changed`: a record was changed. `forged`: the chain was recomputed without the key. `cut`: the end of the chain is missing. `set_back`: a record that this machine has seen is missing. Null if all is intact.',
    type: String,
    enum: [...PROBLEMS, null],
    nullable: true,
    example: null,
  })
  readonly problem: (typeof PROBLEMS)[number] | null;

  static from({ records, total, next, brokenAt, problem }: PartReport): ChainReportDto {
    return {
      object: 'audit-chain-report',
      verified_up_to: records,
      total,
      next_after: next,
      broken_at: brokenAt === null ? null : Number(brokenAt),
      problem,
    };
  }
}
