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
  /** The slug or id of a saved config, or a routing document: an object, or its JSON as a text. */
  @ApiProperty({
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

  /** Where a document would run: id or slug. A workspace key may omit it: it has only one. */
  @MayTakeWorkspace()
  readonly workspace_id?: string;

  /** Same as `params.model`. */
  @ApiPropertyOptional({ example: 'gpt-4o-mini', maxLength: LONGEST_MODEL })
  @IfGiven()
  @IsString()
  @Length(1, LONGEST_MODEL)
  readonly model?: string;

  /** The body of the request. */
  @ApiPropertyOptional({ type: 'object', additionalProperties: true, example: { stream: true } })
  @IfGiven()
  @IsObject()
  readonly params?: Readonly<Record<string, unknown>>;

  @ApiPropertyOptional({ ...TEXTS, example: { _user: 'ada', plan: 'paid' } })
  @IfGiven()
  @AreTexts()
  readonly metadata?: Readonly<Record<string, string>>;

  @ApiPropertyOptional({ ...TEXTS, example: { 'x-session': '7' } })
  @IfGiven()
  @AreTexts()
  readonly headers?: Readonly<Record<string, string>>;

  @ApiPropertyOptional({ example: '/v1/chat/completions', default: '/v1/chat/completions' })
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
  @ApiProperty({ example: 'config.targets[0]' }) readonly path: string;
  @ApiTextOrNull() readonly name: string | null;
  @ApiTextOrNull() readonly virtual_key: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'openai' }) readonly provider: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'gpt-4o-mini' }) readonly model: string | null;
  @ApiProperty({ type: Number, nullable: true, example: 1 }) readonly weight: number | null;

  /** Dollars per million tokens, at three input tokens per output token; null when the price is unknown. */
  @ApiProperty({ type: Number, nullable: true, example: 0.2625 })
  readonly price_per_million_tokens: number | null;

  /** Share of such requests that go to it first, or after the target in `after` has failed; 0 to 1. */
  @ApiProperty({ example: 1 }) readonly share: number;

  /** The target that has to fail before; null for a first choice. */
  @ApiTextOrNull() readonly after: string | null;

  /** Maximum number of retries. */
  @ApiProperty({ example: 0 }) readonly retries: number;

  static of({ token_price, ...rest }: ExplainedTarget): SimulatedTargetDto {
    const price_per_million_tokens = token_price === null ? null : token_price / NANO;
    return Object.assign(new SimulatedTargetDto(), { ...rest, price_per_million_tokens });
  }
}

class SimulatedDto {
  /** The saved config that was simulated; null for a document. */
  @ApiIdOrNull(null)
  readonly config_id: string | null;

  @ApiIdOrNull(null)
  readonly version_id: string | null;

  /** The decisions and their reasons, from the root down. */
  @ApiProperty({ type: [String], example: ['config: config.targets[0] at the least cost'] })
  readonly decisions: readonly string[];

  /** In the order in which they would be tried. */
  @ApiProperty({ type: [SimulatedTargetDto] })
  readonly targets: readonly SimulatedTargetDto[];
}

export class SimulationDto {
  @ApiProperty({ enum: [true] }) readonly success = true;
  @ApiProperty({ type: SimulatedDto }) readonly data: SimulatedDto;

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
    return Object.assign(new SimulationDto(), { data });
  }
}
