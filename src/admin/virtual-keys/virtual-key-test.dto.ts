import { ApiProperty, PickType } from '@nestjs/swagger';
import { ApiTextOrNull } from '../dto-fields/fields.js';
import { TEST_OUTCOMES, type TestResult } from './credential-tester.service.js';
import { CreateVirtualKeyDto } from './virtual-key.dto.js';

/** A credential that is not stored. */
export class TestCredentialDto extends PickType(CreateVirtualKeyDto, [
  'provider',
  'key',
  'custom_host',
  'fields',
  'workspace_id',
] as const) {}

const MOST_MODELS = 200;

/** A provider's response to a credential. */
export class CredentialTestDto {
  @ApiProperty({ enum: ['virtual-key-test'] })
  readonly object = 'virtual-key-test';

  /**
   * `works`: the provider accepted the credential. `refused`: it responded with 401 or 403. `inconclusive`: its response does not depend on
   * the credential. `unreachable`: it did not respond. `not_testable`: its requests are signed individually.
   */
  @ApiProperty({ enum: TEST_OUTCOMES, example: 'works' })
  readonly outcome: (typeof TEST_OUTCOMES)[number];

  /** HTTP status of the provider's response. */
  @ApiProperty({ type: Number, nullable: true, example: 200 })
  readonly status: number | null;

  @ApiProperty({ type: Number, nullable: true, example: 312 })
  readonly latency_ms: number | null;

  /** Models that the account can use, at most 200. */
  @ApiProperty({ type: [String], example: ['gpt-5', 'gpt-5-mini'] })
  readonly models: readonly string[];

  @ApiProperty({ example: 2 })
  readonly total_models: number;

  /** How many of the models have no known price. */
  @ApiProperty({ example: 0 })
  readonly unpriced_models: number;

  /** The provider's own error message, or why the test is inconclusive. */
  @ApiTextOrNull()
  readonly reason: string | null;

  static from({ outcome, status, latencyMs, models, unpriced, reason }: TestResult): CredentialTestDto {
    return Object.assign(new CredentialTestDto(), {
      outcome,
      status,
      latency_ms: latencyMs,
      models: models.slice(0, MOST_MODELS),
      total_models: models.length,
      unpriced_models: unpriced.length,
      reason,
    });
  }
}
