import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ApiMoment } from '../dto-fields/fields.js';
import type { ShownRange } from './analytics.service.js';

const ApiKeyName = (): PropertyDecorator =>
  ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Only of API keys: the name, also of a revoked key. Null if the key does not exist.',
    example: null,
  });

export class CountedRangeDto implements ShownRange {
  @ApiMoment()
  readonly from: string;

  @ApiMoment()
  readonly to: string;

  /** False if whole hours were counted beyond the ends of the range, or if retention may have removed some of its requests. */
  @ApiProperty({ example: true })
  readonly is_exact: boolean;
}

/** The figures of a whole period. */
export class OverviewFiguresDto {
  @ApiProperty({ example: 48_204 })
  readonly requests: number;

  /** Requests with a status of 400 or more, refusals of the gateway included. */
  @ApiProperty({ example: 593 })
  readonly errors: number;

  /** Errors that are refusals of the gateway, such as exceeded limits. They say nothing about a provider. */
  @ApiProperty({ example: 402 })
  readonly refusals: number;

  /** Input and output. */
  @ApiProperty({ example: 31_204_881 })
  readonly tokens: number;

  /** In cents. */
  @ApiProperty({ example: 128_416.2 })
  readonly cost: number;

  /** Cost of the requests that the cache answered, had a provider answered them. In cents. */
  @ApiProperty({ example: 1_240.5 })
  readonly cache_saved: number;

  /** In milliseconds, at most 0.8 % off. */
  @ApiProperty({ example: 1_204.5 })
  readonly latency_p50: number;

  @ApiProperty({ example: 4_120.2 })
  readonly latency_p95: number;

  /** Of streamed responses, in milliseconds, at most 0.8 % off; null without any. */
  @ApiProperty({ type: Number, nullable: true, example: 412.3 })
  readonly first_token_p95: number | null;
}

/** One interval. */
export class OverviewPointDto {
  /** Start of the interval. */
  @ApiMoment()
  readonly timestamp: string;

  @ApiProperty({ example: 412 })
  readonly requests: number;

  /** Statuses of 400 to 499, except refusals of the gateway. */
  @ApiProperty({ example: 3 })
  readonly client_errors: number;

  /** Statuses of 500 and more, except refusals of the gateway: the provider or the gateway failed. */
  @ApiProperty({ example: 1 })
  readonly server_errors: number;

  /** Refusals of the gateway, with any status of 400 and more. */
  @ApiProperty({ example: 2 })
  readonly refusals: number;

  /** In cents. */
  @ApiProperty({ example: 1_066.4 })
  readonly cost: number;

  /** In cents. */
  @ApiProperty({ example: 10.5 })
  readonly cache_saved: number;

  /** In milliseconds. */
  @ApiProperty({ example: 1_180 })
  readonly latency_p50: number;

  @ApiProperty({ example: 3_990 })
  readonly latency_p95: number;

  /** Of streamed responses, in milliseconds, at most 0.8 % off; null without any. */
  @ApiProperty({ type: Number, nullable: true, example: 398 })
  readonly first_token_p95: number | null;
}

export class OverviewGroupDto {
  /** Name of the model, id of the API key, or id of the end user. Empty for requests without one. */
  @ApiProperty({ example: 'gpt-5' })
  readonly value: string;

  @ApiKeyName()
  readonly name?: string | null;

  @ApiProperty({ example: 20_118 })
  readonly requests: number;

  /** In cents. */
  @ApiProperty({ example: 70_210 })
  readonly cost: number;
}

export class OverviewStatusDto {
  @ApiProperty({ example: 429 })
  readonly status_code: number;

  @ApiProperty({ example: 402 })
  readonly requests: number;

  /** How many of them the gateway refused. */
  @ApiProperty({ example: 380 })
  readonly refusals: number;
}

/** A provider that fails often. */
export class OverviewProviderDto {
  @ApiProperty({ example: 'mistral-ai' })
  readonly provider: string;

  /** Without those that the gateway refused, or lost when a process died. */
  @ApiProperty({ example: 412 })
  readonly requests: number;

  /** Requests with the status 429, or 500 and more. */
  @ApiProperty({ example: 128 })
  readonly failures: number;

  /** The statuses of these failures, most frequent first. */
  @ApiProperty({ type: [Number], example: [503, 429] })
  readonly statuses: readonly number[];
}

/** A period, and the period of the same length before it. */
export class OverviewDto {
  @ApiProperty({ enum: ['analytics-overview'] })
  readonly object = 'analytics-overview';

  @ApiProperty({ type: CountedRangeDto })
  readonly range: CountedRangeDto;

  @ApiProperty({ type: CountedRangeDto })
  readonly previous_range: CountedRangeDto;

  @ApiProperty({ type: OverviewFiguresDto })
  readonly summary: OverviewFiguresDto;

  @ApiProperty({ type: OverviewFiguresDto })
  readonly previous_summary: OverviewFiguresDto;

  /** One per interval, including intervals without requests. */
  @ApiProperty({ type: [OverviewPointDto] })
  readonly data_points: readonly OverviewPointDto[];

  @ApiProperty({ type: [OverviewPointDto] })
  readonly previous_points: readonly OverviewPointDto[];

  /** The five models with the highest cost. */
  @ApiProperty({ type: [OverviewGroupDto] })
  readonly top_models: readonly OverviewGroupDto[];

  /** The five API keys with the highest cost. */
  @ApiProperty({ type: [OverviewGroupDto] })
  readonly top_api_keys: readonly OverviewGroupDto[];

  /** The five end users with the highest cost. The value is empty for requests without one. */
  @ApiProperty({ type: [OverviewGroupDto] })
  readonly top_users: readonly OverviewGroupDto[];

  /** The five most frequent statuses of 400 and more. */
  @ApiProperty({ type: [OverviewStatusDto] })
  readonly top_errors: readonly OverviewStatusDto[];

  /**
   * Providers that failed at least 5 % of at least 10 requests in the last hour of the range, most failures first. Failures that a retry or
   * a fallback made good do not count, nor do refusals of the gateway.
   */
  @ApiProperty({ type: [OverviewProviderDto] })
  readonly failing_providers: readonly OverviewProviderDto[];
}

export class FacetValueDto {
  /** The filter value to use. */
  @ApiProperty({ example: 'gpt-5' })
  readonly value: string;

  @ApiKeyName()
  readonly name?: string | null;

  @ApiProperty({ example: 20_118 })
  readonly requests: number;
}

/** The values of a field, most frequent first. Requests without one are left out. */
export class FacetDto {
  @ApiProperty({ enum: ['analytics-facet'] })
  readonly object = 'analytics-facet';

  @ApiProperty({ type: CountedRangeDto })
  readonly range: CountedRangeDto;

  /**
   * False if a filter was ignored because rollups do not distinguish its values (such as a filter by cost or trace); the counts then cover
   * more requests.
   */
  @ApiProperty({ example: true })
  readonly is_filtered: boolean;

  /** Whether there are more values than these. */
  @ApiProperty({ example: false })
  readonly has_more: boolean;

  @ApiProperty({ type: [FacetValueDto] })
  readonly data: readonly FacetValueDto[];
}
