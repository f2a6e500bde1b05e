import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, Max, Min } from 'class-validator';
import { IfGiven } from '../../common/http/validators.js';
import { ApiId, ApiMoment, ApiObject } from '../dto-fields/fields.js';
import type { ApiKey } from './api-key.entity.js';
import { Audited } from '../dto-fields/audited.js';

const HALF_AN_HOUR_MS = 30 * 60_000;
const SEVEN_DAYS_MS = 7 * 24 * 60 * 60_000;

export class RotateApiKeyDto {
  @Audited()
  @ApiPropertyOptional({
    description:
      'Milliseconds for which the old secret still works: 0 to 604,800,000 (7 days). 0 ends every old secret at once; other values are refused while the secret before the last rotation still works. Default: 1,800,000 (30 minutes).',
    minimum: 0,
    maximum: SEVEN_DAYS_MS,
    default: HALF_AN_HOUR_MS,
    example: HALF_AN_HOUR_MS,
  })
  @IfGiven()
  @IsInt()
  @Min(0)
  @Max(SEVEN_DAYS_MS)
  readonly key_transition_period_ms: number = HALF_AN_HOUR_MS;
}

/** The only response that shows the secret. */
export class CreatedApiKeyDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({
    description: 'The secret API key. It is shown only in this response.',
    example: 'gw_ws_<49 characters>',
  })
  readonly key: string;

  @ApiObject('api-key')
  readonly object: 'api-key';

  static from({ id }: ApiKey, secret: string): CreatedApiKeyDto {
    return { object: 'api-key', id, key: secret };
  }
}

export class RotatedApiKeyDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({
    description: 'The new secret API key. It is shown only in this response.',
    example: 'gw_ws_<49 characters>',
  })
  readonly key: string;

  @ApiMoment('Time at which the previous secret stops working.')
  readonly key_transition_expires_at: string;

  static from({ id }: ApiKey, secret: string, endsAt: Date): RotatedApiKeyDto {
    return { id, key: secret, key_transition_expires_at: endsAt.toISOString() };
  }
}
