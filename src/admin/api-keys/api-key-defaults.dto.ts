import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { IfGiven, IsIdOrSlug, IsMetadata, OrNull } from '../../common/http/validators.js';
import { Audited } from '../dto-fields/audited.js';

/** What a key sets for its requests. Omitted fields stay unchanged. */
export class ApiKeyDefaultsDto {
  @ApiPropertyOptional({
    description:
      'Key-value pairs added to every request with this key. They override those of the request; those of the workspace override them.',
    type: 'object',
    additionalProperties: { type: 'string' },
    nullable: true,
    example: { team: 'checkout' },
  })
  @OrNull()
  @IsMetadata()
  readonly metadata?: Readonly<Record<string, string>> | null;

  @Audited('defaults')
  @ApiPropertyOptional({
    description:
      'Id or slug of the config for requests that name none. Null: the default of the workspace applies.',
    type: String,
    nullable: true,
    example: null,
  })
  @OrNull()
  @IsIdOrSlug()
  readonly config_id?: string | null;

  @Audited('defaults')
  @ApiPropertyOptional({
    description: 'Whether requests may name another config or send one. Default: true.',
    type: Boolean,
    default: true,
    example: true,
  })
  @IfGiven()
  @IsBoolean()
  readonly allow_config_override?: boolean;
}
