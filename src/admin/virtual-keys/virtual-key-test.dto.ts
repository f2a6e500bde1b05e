import { ApiProperty, PickType } from '@nestjs/swagger';
import { ApiTextOrNull, ApiObject } from '../dto-fields/fields.js';
import { TEST_OUTCOMES, type TestResult } from './credential-tester.service.js';
import { CreateVirtualKeyDto } from './virtual-key-bodies.dto.js';

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
  @ApiObject('virtual-key-test')
  readonly object: 'virtual-key-test';

  @ApiProperty({
    description:
      '`works`: the provider accepted the credential. `refused`: it returned 401 or 403. `inconclusive`: its response does not show whether the credential is valid. `unreachable`: it did not respond. `not_testable`: a test is not possible for this provider.',
    enum: TEST_OUTCOMES,
    example: 'works',
  })
  readonly outcome: (typeof TEST_OUTCOMES)[number];

  @ApiProperty({
    description: "HTTP status of the provider's response. Null if there was none.",
    type: Number,
    nullable: true,
    example: 200,
  })
  readonly status: number | null;

  @ApiProperty({
    description: 'Milliseconds until the provider responded. Null if it did not.',
    type: Number,
    nullable: true,
    example: 312,
  })
  readonly latency_ms: number | null;

  @ApiProperty({
    description: 'Ids of models that the account can use, at most 200.',
    type: [String],
    example: ['gpt-5', 'gpt-5-mini'],
  })
  readonly models: readonly string[];

  @ApiProperty({ description: 'Number of all models that the account can use.', example: 2 })
  readonly total_models: number;

  @ApiProperty({ description: 'How many of these models have no known price.', example: 0 })
  readonly unpriced_models: number;

  @ApiTextOrNull("The provider's error message, or why the test is inconclusive. Null if it works.")
  readonly reason: string | null;

  static from({ outcome, status, latencyMs, models, unpriced, reason }: TestResult): CredentialTestDto {
    return {
      object: 'virtual-key-test',
      outcome,
      status,
      latency_ms: latencyMs,
      models: models.slice(0, MOST_MODELS),
      total_models: models.length,
      unpriced_models: unpriced.length,
      reason,
    };
  }
}
