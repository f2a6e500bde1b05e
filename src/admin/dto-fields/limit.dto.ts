import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, getSchemaPath, ApiExtraModels } from '@nestjs/swagger';
import { plainToInstance, Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsIn, IsInt, Max, Min } from 'class-validator';
import { RATE_WINDOWS_MS, STORE_FAILURE_MODES, type StoreFailureMode } from '../../common/limits/rules.js';
import { IfGiven, IsFutureDateTime, OrNull, rule, ValidateEach } from '../../common/http/validators.js';
import { ApiMomentOrNull } from './fields.js';
import { Audited } from './audited.js';

/** Limits as users set and see them, for every resource that has them. */

const UNITS = Object.keys(RATE_WINDOWS_MS);
const MOST_RULES = 10;
/** Nine million dollars in nano-dollars are still an exact integer, and so is this number of tokens. */
export const LARGEST_DOLLARS = 9_000_000;
export const LARGEST_AMOUNT = 9_000_000_000_000_000;
const DECIMALS_OF_NANO = /^\d+(\.\d{1,9})?$/;

/** An amount of zero or more; dollars may have nine decimals. */
export const IsAmount = (): PropertyDecorator =>
  rule(
    'isAmount',
    'it must be a number above zero, with at most nine decimals',
    (value) => {
      if (typeof value !== 'number' || !(value > 0) || value > LARGEST_AMOUNT) return false;
      return DECIMALS_OF_NANO.test(value < 1e-6 ? value.toFixed(9) : String(value));
    },
    { minimum: 0, exclusiveMinimum: true, maximum: LARGEST_AMOUNT },
  );

export class RateLimitDto {
  @Audited('rate_limits')
  @ApiProperty({
    description: 'What is limited: requests, tokens, or requests that run at the same time.',
    enum: ['requests', 'tokens', 'concurrency'],
    example: 'requests',
  })
  @IsIn(['requests', 'tokens', 'concurrency'], {
    message: 'it must be "requests", "tokens" or "concurrency"',
  })
  readonly type: 'requests' | 'tokens' | 'concurrency';

  @Audited('rate_limits')
  @ApiPropertyOptional({
    description:
      'Window: `rps` a second, `rpm` a minute, `rph` an hour, `rpd` a day, `rpw` a week. Null for `concurrency`.',
    type: String,
    enum: [...UNITS, null],
    nullable: true,
    example: 'rpm',
  })
  @OrNull()
  @IsIn(UNITS, { message: `it must be one of ${UNITS.join(', ')}` })
  readonly unit?: keyof typeof RATE_WINDOWS_MS | null;

  @Audited('rate_limits')
  @ApiProperty({ description: 'The most that is allowed in the window.', minimum: 0, example: 600 })
  @IsInt({ message: 'it must be a whole number' })
  @Min(0, { message: 'it must not be negative' })
  @Max(LARGEST_AMOUNT, { message: 'it is too large' })
  readonly value: number;

  @ApiPropertyOptional({
    description:
      'What happens while the store of the limit is unavailable: `open` lets requests pass without the limit; `closed` refuses them with 503 `limits_unavailable`. Default: `open`.',
    enum: STORE_FAILURE_MODES,
    default: 'open',
  })
  @IfGiven()
  @IsIn(STORE_FAILURE_MODES, { message: 'it must be "open" or "closed"' })
  readonly on_store_failure?: StoreFailureMode;
}

export class UsageLimitsDto {
  @Audited('usage_limits')
  @ApiProperty({
    description: 'Amount of the budget: US dollars with at most nine decimals, up to 9,000,000, or tokens.',
    example: 100,
    maximum: LARGEST_AMOUNT,
  })
  @IsAmount()
  readonly credit_limit: number;

  @Audited('usage_limits')
  @ApiPropertyOptional({
    description: 'Whether the budget counts US dollars or tokens. Default: `cost`.',
    enum: ['cost', 'tokens'],
    default: 'cost',
  })
  @IfGiven()
  @IsIn(['cost', 'tokens'], { message: 'it must be "cost" or "tokens"' })
  readonly type?: 'cost' | 'tokens';

  @Audited('usage_limits')
  @ApiPropertyOptional({
    description:
      'Use at which an alert is sent, in the unit of the budget and below it. Null: no alert. Default: null.',
    type: Number,
    nullable: true,
    example: 80,
  })
  @OrNull()
  @IsAmount()
  readonly alert_threshold?: number | null;

  @Audited('usage_limits')
  @ApiPropertyOptional({
    description:
      'When use goes back to zero: `weekly` on Monday or `monthly` on the first, at midnight UTC. Null: never. Default: null.',
    type: String,
    enum: ['weekly', 'monthly', null],
    nullable: true,
    example: 'monthly',
  })
  @OrNull()
  @IsIn(['weekly', 'monthly'], { message: 'it must be "weekly" or "monthly"' })
  readonly periodic_reset?: 'weekly' | 'monthly' | null;

  @Audited('usage_limits')
  @ApiPropertyOptional({
    description:
      'Number of days after which use returns to zero, 1 to 365. Not together with `periodic_reset`. Null: never. Default: null.',
    type: Number,
    nullable: true,
    minimum: 1,
    maximum: 365,
    example: null,
  })
  @OrNull()
  @IsInt({ message: 'it must be a whole number' })
  @Min(1, { message: 'it must be 1 to 365' })
  @Max(365, { message: 'it must be 1 to 365' })
  readonly periodic_reset_days?: number | null;

  @Audited('usage_limits')
  @ApiPropertyOptional({
    description:
      'Time of the next reset. It can be set only together with `periodic_reset_days`. Null if there is none.',
    type: String,
    format: 'date-time',
    nullable: true,
    example: null,
  })
  @OrNull()
  @IsFutureDateTime()
  readonly next_usage_reset_at?: string | null;
}

/** One object, a list of them, or null; null belongs to the list variant because a reference cannot be nullable in OpenAPI 3.0. */
const oneOrMoreOf = (item: new () => object) => [
  { $ref: getSchemaPath(item) },
  { type: 'array', nullable: true, items: { $ref: getSchemaPath(item) }, maxItems: MOST_RULES },
];

/** A field for one object, a list of them, or null for none. */
const OneOrMore = (item: new () => object, description: string): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ description, oneOf: oneOrMoreOf(item) }),
    OrNull(),
    Transform(({ value }: { readonly value: unknown }) => listOf(item, value)),
    IsArray({ message: 'it must be an object or a list of objects' }),
    ArrayMaxSize(MOST_RULES, { message: `it must have at most ${MOST_RULES} entries` }),
    ValidateEach(() => item, 'it must be an object or a list of objects'),
  );

const RATE_LIMITS =
  'Rate limits: one object, a list of at most 10, or null for none. All of them apply. Default: none.';
const BUDGETS =
  'Budgets: one object, a list of at most 10, or null for none. All of them apply. Default: none.';

export const RateLimits = (): PropertyDecorator => OneOrMore(RateLimitDto, RATE_LIMITS);
export const UsageLimits = (): PropertyDecorator => OneOrMore(UsageLimitsDto, BUDGETS);

function listOf(item: new () => object, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.map((one) => (typeof one === 'object' && one !== null ? plainToInstance(item, one) : one));
}

/** A rate limit as the API shows it. */
export class ShownRateLimitDto {
  @ApiProperty({
    description: 'What is limited: requests, tokens, or requests that run at the same time.',
    enum: ['requests', 'tokens', 'concurrency'],
  })
  readonly type: string;

  @ApiProperty({
    description:
      'Window: `rps` a second, `rpm` a minute, `rph` an hour, `rpd` a day, `rpw` a week. Null for `concurrency`.',
    type: String,
    enum: [...UNITS, null],
    nullable: true,
  })
  readonly unit: string | null;

  @ApiProperty({ description: 'The most that is allowed in the window.', example: 600 })
  readonly value: number;

  @ApiProperty({
    description:
      'What happens while the store of the limit is unavailable: `open` lets requests pass without the limit; `closed` refuses them with 503 `limits_unavailable`. Default: `open`.',
    enum: STORE_FAILURE_MODES,
    example: 'open',
  })
  readonly on_store_failure: StoreFailureMode;
}

export const ShownRateLimits = (): PropertyDecorator =>
  ApiProperty({ description: RATE_LIMITS, type: [ShownRateLimitDto], nullable: true, example: null });

/** A budget as the API shows it, with its use. */
export class ShownUsageLimitsDto {
  @ApiProperty({
    description: 'Amount of the budget: US dollars with at most nine decimals, up to 9,000,000, or tokens.',
    example: 100,
  })
  readonly credit_limit: number;

  @ApiProperty({ description: 'Amount added to the budget until its next reset.', example: 0 })
  readonly raised_by: number;

  @ApiProperty({ description: 'Whether the budget counts US dollars or tokens.', enum: ['cost', 'tokens'] })
  readonly type: string;

  @ApiProperty({
    description:
      'Use at which an alert is sent, in the unit of the budget and below it. Null: no alert. Default: null.',
    type: Number,
    nullable: true,
    example: 80,
  })
  readonly alert_threshold: number | null;

  @ApiProperty({
    description:
      'When use goes back to zero: `weekly` on Monday or `monthly` on the first, at midnight UTC. Null: never. Default: null.',
    type: String,
    enum: ['weekly', 'monthly', null],
    nullable: true,
  })
  readonly periodic_reset: string | null;

  @ApiProperty({
    description:
      'Number of days after which use returns to zero, 1 to 365. Not together with `periodic_reset`. Null: never. Default: null.',
    type: Number,
    nullable: true,
    example: null,
  })
  readonly periodic_reset_days: number | null;

  @ApiMomentOrNull(
    'Time of the next reset. It can be set only together with `periodic_reset_days`. Null if there is none.',
  )
  readonly next_usage_reset_at: string | null;

  @ApiProperty({
    description: 'Use since the last reset, in dollars or tokens. Requests count when they have ended.',
    example: 12.5,
  })
  readonly usage: number;
}

/** A field that shows one budget as an object and several as a list. */
export const ShownUsageLimits = (): PropertyDecorator =>
  ApiProperty({ description: BUDGETS, oneOf: oneOrMoreOf(ShownUsageLimitsDto) });

/** For classes with limit fields: registers the referenced schemas in the document. */
export const TakesLimits = (): ClassDecorator => ApiExtraModels(RateLimitDto, UsageLimitsDto);
export const ShowsLimits = (): ClassDecorator => ApiExtraModels(ShownUsageLimitsDto);
