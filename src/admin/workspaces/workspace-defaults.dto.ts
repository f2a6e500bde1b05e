import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsObject, IsString, Length } from 'class-validator';
import type { ClientDisconnectRule } from '../../common/contracts/upstream-rules.js';
import { IsMetadata, OrNull } from '../../common/http/validators.js';
import type { CacheRules } from '../../routing-config/document.js';
import { Audited } from '../dto-fields/audited.js';
import { MayTakeDisconnectRule } from '../dto-fields/fields.js';

const MOST_GUARDRAILS = 50;
const LONGEST_REFERENCE = 128;

/** Defaults of a workspace's requests. */
export class WorkspaceDefaultsDto {
  @ApiPropertyOptional({
    description:
      'Key-value pairs added to every request of the workspace. They override those of API keys and requests. Null: none.',
    type: 'object',
    additionalProperties: { type: 'string' },
    nullable: true,
    example: { team: 'search' },
  })
  @OrNull()
  @IsMetadata()
  readonly metadata?: Readonly<Record<string, string>> | null;

  @Audited('defaults')
  @ApiPropertyOptional({
    description:
      'Ids or slugs of guardrails that check every request, before those of a config. Null: none. At most 50.',
    type: [String],
    nullable: true,
    example: [],
  })
  @OrNull()
  @IsArray()
  @ArrayMaxSize(MOST_GUARDRAILS)
  @IsString({ each: true })
  @Length(1, LONGEST_REFERENCE, { each: true })
  readonly input_guardrails?: readonly string[] | null;

  @Audited('defaults')
  @ApiPropertyOptional({
    description:
      'Ids or slugs of guardrails that check every response, before those of a config. Null: none. At most 50.',
    type: [String],
    nullable: true,
    example: [],
  })
  @OrNull()
  @IsArray()
  @ArrayMaxSize(MOST_GUARDRAILS)
  @IsString({ each: true })
  @Length(1, LONGEST_REFERENCE, { each: true })
  readonly output_guardrails?: readonly string[] | null;

  @ApiPropertyOptional({
    description: 'Id or slug of the config for user API keys that have no config of their own. Null: none.',
    type: String,
    nullable: true,
    example: null,
  })
  @OrNull()
  @IsString()
  @Length(1, LONGEST_REFERENCE)
  readonly user_api_key_config?: string | null;

  @ApiPropertyOptional({
    description: 'Response cache for requests whose config does not set one. Null: no default.',
    type: 'object',
    additionalProperties: true,
    nullable: true,
    example: { mode: 'simple', max_age: 3600 },
  })
  @OrNull()
  @IsObject()
  readonly cache?: CacheRules | null;

  @MayTakeDisconnectRule()
  readonly on_client_disconnect?: ClientDisconnectRule | null;
}
