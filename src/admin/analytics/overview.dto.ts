import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ApiMoment, ApiObject } from '../dto-fields/fields.js';
import type { ShownRange } from './analytics.service.js';

const ApiKeyName = (): PropertyDecorator =>
  ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Only of API keys: the name, also of a revoked key. Null if the key does not exist.',
    example: null,
  });

export class CountedRangeDto implements ShownRange {
  @ApiMoment('Start of the period that was counted.')
  readonly from: string;

  @ApiMoment('End of the period that was counted.')
  readonly to: string;

  @ApiProperty({
    description:
      'False if whole hours had to be counted where the period cuts them, or if retention may have removed part of it.',
    example: true,
  })
  readonly is_exact: boolean;
}

/** The figures of a whole period. */
export class OverviewFiguresDto {
  @ApiProperty({ description: 'Number of requests.', example: 48_204 })
  readonly requests: number;

  @ApiProperty({
    description: 'Requests with a status of 400 or more, refusals of the gateway included.',
    example: 593,
  })
  readonly errors: number;

  @ApiProperty({
    description: 'Number of errors that are refusals of the gateway, such as exceeded limits.',
    example: 402,
  })
  readonly refusals: number;

  @ApiProperty({ description: 'Input and output tokens.', example: 31_204_881 })
  readonly tokens: number;

  @ApiProperty({ description: 'Cost in US cents.', example: 128_416.2 })
  readonly cost: number;

  @ApiProperty({
    description: 'US cents that the requests answered from the cache would have cost at the provider.',
    example: 1_240.5,
  })
  readonly cache_saved: number;

  @ApiProperty({
    description: 'Median time to the whole response in milliseconds, at most 0.8 % off.',
    example: 1_204.5,
  })
  readonly latency_p50: number;

  @ApiProperty({
    description: '95th percentile of the time to the whole response in milliseconds, at most 0.8 % off.',
    example: 4_120.2,
  })
  readonly latency_p95: number;

  @ApiProperty({
    description:
      '95th percentile of the time to the first token of streamed responses in milliseconds, at most 0.8 % off; null without any.',
    type: Number,
    nullable: true,
    example: 412.3,
  })
  readonly first_token_p95: number | null;
}

/** One interval. */
export class OverviewPointDto {
  @ApiMoment('Beginning of the interval.')
  readonly timestamp: string;

  @ApiProperty({ description: 'Number of requests.', example: 412 })
  readonly requests: number;

  @ApiProperty({
    description: 'Requests with a status of 400 to 499 that the gateway did not refuse.',
    example: 3,
  })
  readonly client_errors: number;

  @ApiProperty({
    description:
      'Requests with a status of 500 or more that the gateway did not refuse: the provider or the gateway failed.',
    example: 1,
  })
  readonly server_errors: number;

  @ApiProperty({
    description: 'Number of errors that are refusals of the gateway, such as exceeded limits.',
    example: 2,
  })
  readonly refusals: number;

  @ApiProperty({ description: 'Cost in US cents.', example: 1_066.4 })
  readonly cost: number;

  @ApiProperty({
    description: 'US cents that the requests answered from the cache would have cost at the provider.',
    example: 10.5,
  })
  readonly cache_saved: number;

  @ApiProperty({
    description: 'Median time to the whole response in milliseconds, at most 0.8 % off.',
    example: 1_180,
  })
  readonly latency_p50: number;

  @ApiProperty({
    description: '95th percentile of the time to the whole response in milliseconds, at most 0.8 % off.',
    example: 3_990,
  })
  readonly latency_p95: number;

  @ApiProperty({
    description:
      '95th percentile of the time to the first token of streamed responses in milliseconds, at most 0.8 % off; null without any.',
    type: Number,
    nullable: true,
    example: 398,
  })
  readonly first_token_p95: number | null;
}

export class OverviewGroupDto {
  @ApiProperty({
    description: 'Value by which the requests are grouped, such as the id of a model.',
    example: 'gpt-5',
  })
  readonly value: string;

  @ApiKeyName()
  readonly name?: string | null;

  @ApiProperty({ description: 'Number of requests.', example: 20_118 })
  readonly requests: number;

  @ApiProperty({ description: 'Cost in US cents.', example: 70_210 })
  readonly cost: number;
}

export class OverviewStatusDto {
  @ApiProperty({ description: 'HTTP status.', example: 429 })
  readonly status_code: number;

  @ApiProperty({ description: 'Number of requests.', example: 402 })
  readonly requests: number;

  @ApiProperty({ description: 'How many of these requests the gateway refused.', example: 380 })
  readonly refusals: number;
}

/** A provider that fails often. */
export class OverviewProviderDto {
  @ApiProperty({
    description: 'Id of the provider in the provider catalogue, such as `openai`.',
    example: 'mistral-ai',
  })
  readonly provider: string;

  @ApiProperty({
    description:
      'Requests to the provider, without those that the gateway refused, or lost when a process died.',
    example: 412,
  })
  readonly requests: number;

  @ApiProperty({ description: 'Requests with the status 429, or 500 or more.', example: 128 })
  readonly failures: number;

  @ApiProperty({
    description: 'The statuses of these failures, most frequent first.',
    type: [Number],
    example: [503, 429],
  })
  readonly statuses: readonly number[];
}

/** A period, and the period of the same length before it. */
export class OverviewDto {
  @ApiObject('analytics-overview')
  readonly object: 'analytics-overview';

  @ApiProperty({ description: 'Time range that was counted.', type: CountedRangeDto })
  readonly range: CountedRangeDto;

  @ApiProperty({ description: 'The period of the same length before `range`.', type: CountedRangeDto })
  readonly previous_range: CountedRangeDto;

  @ApiProperty({ description: 'Values for the whole time range.', type: OverviewFiguresDto })
  readonly summary: OverviewFiguresDto;

  @ApiProperty({ description: 'Figures of the previous period.', type: OverviewFiguresDto })
  readonly previous_summary: OverviewFiguresDto;

  @ApiProperty({
    description: 'Figures of each interval, including intervals without requests.',
    type: [OverviewPointDto],
  })
  readonly data_points: readonly OverviewPointDto[];

  @ApiProperty({ description: 'Intervals of the previous period.', type: [OverviewPointDto] })
  readonly previous_points: readonly OverviewPointDto[];

  @ApiProperty({ description: 'The five models that cost most.', type: [OverviewGroupDto] })
  readonly top_models: readonly OverviewGroupDto[];

  @ApiProperty({ description: 'The five API keys that cost most.', type: [OverviewGroupDto] })
  readonly top_api_keys: readonly OverviewGroupDto[];

  @ApiProperty({
    description: 'The five end users that cost most. The value is empty for requests without one.',
    type: [OverviewGroupDto],
  })
  readonly top_users: readonly OverviewGroupDto[];

  @ApiProperty({ description: 'The five most frequent statuses of 400 or more.', type: [OverviewStatusDto] })
  readonly top_errors: readonly OverviewStatusDto[];

  @ApiProperty({
    description:
      'Providers that failed at least 5 % of at least 10 requests in the last hour of the period, most failures first. Failures that a retry or a fallback made good do not count, nor do refusals of the gateway.',
    type: [OverviewProviderDto],
  })
  readonly failing_providers: readonly OverviewProviderDto[];
}

export class FacetValueDto {
  @ApiProperty({ description: 'Value of the field, as a filter takes it.', example: 'gpt-5' })
  readonly value: string;

  @ApiKeyName()
  readonly name?: string | null;

  @ApiProperty({ description: 'Number of requests.', example: 20_118 })
  readonly requests: number;
}

/** The values of a field, most frequent first. Requests without one are left out. */
export class FacetDto {
  @ApiObject('analytics-facet')
  readonly object: 'analytics-facet';

  @ApiProperty({ description: 'Time range that was counted.', type: CountedRangeDto })
  readonly range: CountedRangeDto;

  @ApiProperty({
    description:
      'False if a filter was left out because rollups do not count by it, such as a filter by cost or trace. The counts then include more requests.',
    example: true,
  })
  readonly is_filtered: boolean;

  @ApiProperty({ description: 'Whether there are more values than these.', example: false })
  readonly has_more: boolean;

  @ApiProperty({
    description: 'The values of the field, with the number of requests of each.',
    type: [FacetValueDto],
  })
  readonly data: readonly FacetValueDto[];
}
