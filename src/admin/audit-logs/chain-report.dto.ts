import { ApiProperty } from '@nestjs/swagger';
import type { PartReport } from '../audit/chain-verification.service.js';

const PROBLEMS = ['missing', 'changed', 'forged', 'cut', 'set_back'] as const;

/** Result of checking a part of the audit log. */
export class ChainReportDto {
  @ApiProperty({ enum: ['audit-chain-report'] })
  readonly object = 'audit-chain-report';

  /** Number of the last record that was not altered. */
  @ApiProperty({ example: 1204 })
  readonly verified_up_to: number;

  @ApiProperty({ example: 1204 })
  readonly total: number;

  /** Send it as `after` to check the next part. Null when the end was checked, or a record is wrong. */
  @ApiProperty({ type: Number, nullable: true, example: null })
  readonly next_after: number | null;

  /** Number of the first wrong record. */
  @ApiProperty({ type: Number, nullable: true, example: null })
  readonly broken_at: number | null;

  /**
   * `missing`: a record is missing. `changed`: its content differs from what was hashed. `forged`: someone without the key
   * computed the chain again. `cut`: the end of the chain is missing. `set_back`: a record that this machine has seen is missing.
   */
  @ApiProperty({ type: String, enum: [...PROBLEMS, null], nullable: true, example: null })
  readonly problem: (typeof PROBLEMS)[number] | null;

  static from({ records, total, next, brokenAt, problem }: PartReport): ChainReportDto {
    return Object.assign(new ChainReportDto(), {
      verified_up_to: records,
      total,
      next_after: next,
      broken_at: brokenAt === null ? null : Number(brokenAt),
      problem,
    });
  }
}
