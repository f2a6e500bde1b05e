import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsObject, IsString, Length, MaxLength } from 'class-validator';
import type { ExplainedTarget, Explanation } from '../../routing-config/explain.js';
import type { RoutedRequest } from '../../routing-config/conditions.js';
import { IfGiven, rule } from '../../common/http/validators.js';
import { ApiIdOrNull, ApiTextOrNull, MayTakeWorkspace } from '../dto-fields/fields.js';

const LONGEST_MODEL = 256;
const LONGEST_PATH = 2_048;
const MOST_TEXTS = 64;
const NANO = 1e9;

const AreTexts = (): PropertyDecorator =>
  rule('areTexts', `it must be an object of at most ${MOST_TEXTS} strings`, (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const texts = Object.values(value);
    return texts.length <= MOST_TEXTS && texts.every((text) => typeof text === 'string');
  });

const TEXTS = { type: 'object' as const, additionalProperties: { type: 'string' as const } };

/** A config, and a request to run through it. */
export class SimulateConfigDto {
  @ApiProperty({
    description: 'Slug or id of a saved config, or a routing document as an object or as JSON text.',
    oneOf: [
      { type: 'object', additionalProperties: true },
      { type: 'string', minLength: 1 },
    ],
    example: {
      strategy: { mode: 'loadbalance', balance_by: 'cost' },
      targets: [
        { provider: 'openai' },
        { provider: 'anthropic', override_params: { model: 'claude-sonnet-4-5' } },
      ],
    },
  })
  @rule(
    'isConfig',
    'it must be the slug or id of a config, or a routing document',
    (value) =>
      (typeof value === 'string' && value !== '') ||
      (typeof value === 'object' && value !== null && !Array.isArray(value)),
  )
  readonly config: string | Readonly<Record<string, unknown>>;

  @MayTakeWorkspace()
  readonly workspace_id?: string;

  @ApiPropertyOptional({
    description: 'Model of the request to simulate. The same as `params.model`.',
    example: 'gpt-4o-mini',
    maxLength: LONGEST_MODEL,
  })
  @IfGiven()
  @IsString()
  @Length(1, LONGEST_MODEL)
  readonly model?: string;

  @ApiPropertyOptional({
    description: 'Body of the request to simulate. Default: an empty object.',
    type: 'object',
    additionalProperties: true,
    example: { stream: true },
  })
  @IfGiven()
  @IsObject()
  readonly params?: Readonly<Record<string, unknown>>;

  @ApiPropertyOptional({
    description: 'Metadata of the request to simulate. Default: none.',
    ...TEXTS,
    example: { _user: 'ada', plan: 'paid' },
  })
  @IfGiven()
  @AreTexts()
  readonly metadata?: Readonly<Record<string, string>>;

  @ApiPropertyOptional({
    description: 'Headers of the request to simulate. Default: none.',
    ...TEXTS,
    example: { 'x-session': '7' },
  })
  @IfGiven()
  @AreTexts()
  readonly headers?: Readonly<Record<string, string>>;

  @ApiPropertyOptional({
    description: 'Path of the request to simulate. Default: `/v1/chat/completions`.',
    example: '/v1/chat/completions',
    default: '/v1/chat/completions',
  })
  @IfGiven()
  @IsString()
  @MaxLength(LONGEST_PATH)
  readonly path?: string;
}

/** The request as a config would see it. */
export function requestOf({ model, params, metadata, headers, path }: SimulateConfigDto): RoutedRequest {
  const named = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    metadata: metadata ?? null,
    params: { ...params, ...(model === undefined ? {} : { model }) },
    pathname: path ?? '/v1/chat/completions',
    headers: Object.fromEntries(named) as Readonly<Record<string, string>>,
  };
}

/** A possible target of the request. */
class SimulatedTargetDto {
  @ApiProperty({ description: 'Place of the target in the config.', example: 'config.targets[0]' })
  readonly path: string;
  @ApiTextOrNull('Name of the target in the config. Null if it has none.') readonly name: string | null;
  @ApiTextOrNull('Slug of the virtual key. Null if none was used.') readonly virtual_key: string | null;
  @ApiProperty({
    description: 'Id of the provider in the provider catalogue, such as `openai`.',
    type: String,
    nullable: true,
    example: 'openai',
  })
  readonly provider: string | null;
  @ApiProperty({
    description: "Id of the model, as its provider's documentation writes it.",
    type: String,
    nullable: true,
    example: 'gpt-4o-mini',
  })
  readonly model: string | null;
  @ApiProperty({
    description: 'Weight of the target in a load balance. Null outside of one.',
    type: Number,
    nullable: true,
    example: 1,
  })
  readonly weight: number | null;

  @ApiProperty({
    description:
      'US dollars for a million tokens, three input tokens for each output token. Null if the price is unknown.',
    type: Number,
    nullable: true,
    example: 0.2625,
  })
  readonly price_per_million_tokens: number | null;

  @ApiProperty({
    description:
      'Share of such requests that try this target, 0 to 1, provided that the target in `after` has failed.',
    example: 1,
  })
  readonly share: number;

  @ApiTextOrNull('Target that has to fail first. Null for a first choice.') readonly after: string | null;

  @ApiProperty({ description: 'Maximum number of further attempts at this target.', example: 0 })
  readonly retries: number;

  static of({ token_price, ...rest }: ExplainedTarget): SimulatedTargetDto {
    const price_per_million_tokens = token_price === null ? null : token_price / NANO;
    return { ...rest, price_per_million_tokens };
  }
}

class SimulatedDto {
  @ApiIdOrNull('Id of the saved config. Null for a document.', null)
  readonly config_id: string | null;

  @ApiIdOrNull('Id of its version in force. Null for a document.', null)
  readonly version_id: string | null;

  @ApiProperty({
    description: 'Decisions of the routing, from the root of the config down. Null if there were none.',
    type: [String],
    example: ['config: config.targets[0] at the least cost'],
  })
  readonly decisions: readonly string[];

  @ApiProperty({
    description: 'Targets in the order in which they would be tried.',
    type: [SimulatedTargetDto],
  })
  readonly targets: readonly SimulatedTargetDto[];
}

export class SimulationDto {
  @ApiProperty({
    description: 'Always true. A failure has an error status and an `error` object instead.',
    enum: [true],
  })
  readonly success: true;
  @ApiProperty({ description: 'The result of the simulation.', type: SimulatedDto })
  readonly data: SimulatedDto;

  static of(
    { decisions, targets }: Explanation,
    saved: { readonly id: string; readonly versionId: string } | null,
  ): SimulationDto {
    const data: SimulatedDto = {
      config_id: saved?.id ?? null,
      version_id: saved?.versionId ?? null,
      decisions,
      targets: targets.map((target) => SimulatedTargetDto.of(target)),
    };
    return { success: true, data };
  }
}
