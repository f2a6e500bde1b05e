import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { IfGiven, IsIdOrSlug, IsMetadata, OrNull } from '../../common/http/validators.js';

/** What a key sets for its requests. Omitted fields stay unchanged. */
export class ApiKeyDefaultsDto {
  /** Overrides the metadata of requests; the workspace's metadata overrides this. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    nullable: true,
    example: { team: 'checkout' },
  })
  @OrNull()
  @IsMetadata()
  readonly metadata?: Readonly<Record<string, string>> | null;

  /** Id or slug of the config for requests that name none. */
  @ApiPropertyOptional({ type: String, nullable: true, example: null })
  @OrNull()
  @IsIdOrSlug()
  readonly config_id?: string | null;

  /** False: requests may neither name a config nor include one. */
  @ApiPropertyOptional({ type: Boolean, default: true, example: true })
  @IfGiven()
  @IsBoolean()
  readonly allow_config_override?: boolean;
}
