import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { IfGiven, IsIdOrSlug, IsMetadata, OrNull } from '../../common/http/validators.js';

/** What the requests of a key get. A field that is not named stays as it is. */
export class ApiKeyDefaultsDto {
  /** Wins over what requests say themselves; what the workspace says wins over this. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    nullable: true,
    example: { team: 'checkout' },
  })
  @OrNull()
  @IsMetadata()
  readonly metadata?: Readonly<Record<string, string>> | null;

  /** Id or slug of the config that requests go by which name none. */
  @ApiPropertyOptional({ type: String, nullable: true, example: null })
  @OrNull()
  @IsIdOrSlug()
  readonly config_id?: string | null;

  /** False: requests may neither name a config nor bring one. */
  @ApiPropertyOptional({ type: Boolean, default: true, example: true })
  @IfGiven()
  @IsBoolean()
  readonly allow_config_override?: boolean;
}
