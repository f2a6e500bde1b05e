import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsBoolean, IsObject, IsString, Length } from 'class-validator';
import { type PolicyFlags, USUAL_SETTINGS } from '../../common/contracts/organization-settings.js';
import type { Organization } from '../tenancy/organization.entity.js';
import { Nested, IfGiven, OrNull } from '../../common/http/validators.js';
import type { LogRedaction } from '../../common/contracts/log-redaction.js';
import {
  ApiId,
  ApiObject,
  ApiCreatedAt,
  ApiLastUpdatedAt,
  ApiTextOrNull,
  MayTakeName,
} from '../dto-fields/fields.js';
import { ShowsRedaction, TakesRedaction } from '../dto-fields/redaction.dto.js';
import { KeepsForDays, TakesDays } from '../dto-fields/retention.dto.js';
import { Audited } from '../dto-fields/audited.js';
import {
  AreSwitches,
  EXPORT_SETTINGS,
  ExportSettingsDto,
  SWITCHES_SCHEMA,
} from './organization-fields.dto.js';

const MOST_PROVIDERS = 200;
const MOST_MODELS = 1_000;
const LONGEST_MODEL = 255;

const MOST_GUARDRAILS = 50;
const LONGEST_REFERENCE = 64;
const LONGEST_URL = 2_048;
const LONGEST_SECRET = 1_024;

const GUARDRAILS = { type: [String] as [StringConstructor], nullable: true, example: ['pg-3f9a1c0b7d'] };

/** Slugs or ids; null for none. */
const AreGuardrails = (): PropertyDecorator =>
  applyDecorators(
    OrNull(),
    IsArray(),
    ArrayMaxSize(MOST_GUARDRAILS),
    Length(1, LONGEST_REFERENCE, { each: true }),
  );

/** Omitted fields stay unchanged; null restores the default. */
export class UpdateOrganizationDto {
  @Audited()
  @MayTakeName('Example Inc.', 'Name of the organization.')
  readonly name?: string;

  @ApiPropertyOptional({
    ...SWITCHES_SCHEMA,
    description:
      'Policy flags that extend or restrict the rights of roles. Flags that are left out keep their value; null restores the defaults.',
  })
  @OrNull()
  @IsObject()
  @AreSwitches()
  readonly security_settings?: PolicyFlags | null;

  @Audited()
  @ApiPropertyOptional({
    description: 'Ids of the only providers that requests may use. Null: all providers.',
    type: [String],
    nullable: true,
    example: ['openai', 'anthropic'],
  })
  @OrNull()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_PROVIDERS)
  @Length(1, 64, { each: true })
  readonly allowed_providers?: string[] | null;

  @Audited()
  @ApiPropertyOptional({
    description: 'Ids of the only models that requests may use. Null: all models.',
    type: [String],
    nullable: true,
    example: ['gpt-5', 'claude-sonnet-5'],
  })
  @OrNull()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_MODELS)
  @Length(1, LONGEST_MODEL, { each: true })
  readonly allowed_models?: string[] | null;

  @Audited()
  @ApiPropertyOptional({
    description: 'Whether the request log keeps the bodies of requests and responses. Default: true.',
    example: true,
  })
  @IfGiven()
  @IsBoolean()
  readonly log_bodies?: boolean;

  @Audited()
  @ApiPropertyOptional({
    description:
      'True refuses requests that cannot be recorded, for example when the disk is full. False serves them without a record. Default: false.',
    example: false,
  })
  @IfGiven()
  @IsBoolean()
  readonly strict_logging?: boolean;

  @ApiPropertyOptional({
    ...GUARDRAILS,
    description:
      'Ids or slugs of guardrails that check every request, before those of a config. Null: none. At most 50.',
  })
  @AreGuardrails()
  readonly input_guardrails?: string[] | null;

  @ApiPropertyOptional({
    ...GUARDRAILS,
    description:
      'Ids or slugs of guardrails that check every response, before those of a config. Null: none. At most 50.',
  })
  @AreGuardrails()
  readonly output_guardrails?: string[] | null;

  @Audited()
  @TakesDays(
    'Days for which request logs are kept, 1 to 3650. Null: the value of the level above applies (organization, then installation).',
  )
  readonly log_retention_days?: number | null;

  @Audited()
  @TakesDays(
    'Days for which request and response bodies are kept, 1 to 3650; never longer than their logs. Null: the value of the level above applies.',
  )
  readonly body_retention_days?: number | null;

  @Audited()
  @TakesRedaction()
  readonly log_redaction?: LogRedaction | null;

  @ApiPropertyOptional({
    ...EXPORT_SETTINGS,
    description: 'Fields that no export of the request log may contain. Null: no such rule.',
  })
  @OrNull()
  @IsObject()
  @Nested(() => ExportSettingsDto)
  readonly export_settings?: ExportSettingsDto | null;

  @ApiPropertyOptional({
    description:
      'URL that receives a POST when a budget reaches its threshold or its limit. Null: no webhook. Default: null.',
    type: String,
    nullable: true,
    example: 'https://hooks.example.com/budgets',
  })
  @OrNull()
  @IsString()
  @Length(1, LONGEST_URL)
  readonly alert_webhook_url?: string | null;

  @ApiPropertyOptional({
    description:
      'Secret that signs the calls to `alert_webhook_url`. It is stored encrypted and never shown. Null removes it.',
    type: String,
    nullable: true,
    example: 'a long random text',
  })
  @OrNull()
  @IsString()
  @Length(1, LONGEST_SECRET)
  readonly alert_webhook_secret?: string | null;
}

/** The caller's organization and its settings for all workspaces. */
export class OrganizationDto {
  @ApiObject('organisation')
  readonly object: 'organisation';

  @ApiId()
  readonly id: string;

  @ApiProperty({ description: 'Name of the organization.', example: 'Example Inc.' })
  readonly name: string;

  @ApiProperty({
    ...SWITCHES_SCHEMA,
    description:
      'Policy flags that extend or restrict the rights of roles. Flags that are left out keep their value; null restores the defaults.',
  })
  readonly security_settings: PolicyFlags | null;

  @ApiProperty({
    description: 'Ids of the only providers that requests may use. Null: all providers.',
    type: [String],
    nullable: true,
    example: null,
  })
  readonly allowed_providers: readonly string[] | null;

  @ApiProperty({
    description: 'Ids of the only models that requests may use. Null: all models.',
    type: [String],
    nullable: true,
    example: null,
  })
  readonly allowed_models: readonly string[] | null;

  @ApiProperty({
    description: 'Whether the request log keeps the bodies of requests and responses. Default: true.',
    example: true,
  })
  readonly log_bodies: boolean;

  @ApiProperty({
    description:
      'True refuses requests that cannot be recorded, for example when the disk is full. False serves them without a record. Default: false.',
    example: false,
  })
  readonly strict_logging: boolean;

  @ApiProperty({
    ...GUARDRAILS,
    description:
      'Ids or slugs of guardrails that check every request, before those of a config. Null: none. At most 50.',
  })
  readonly input_guardrails: readonly string[] | null;

  @ApiProperty({
    ...GUARDRAILS,
    description:
      'Ids or slugs of guardrails that check every response, before those of a config. Null: none. At most 50.',
  })
  readonly output_guardrails: readonly string[] | null;

  @KeepsForDays(
    'Days for which request logs are kept, 1 to 3650. Null: the value of the level above applies (organization, then installation).',
  )
  readonly log_retention_days: number | null;

  @KeepsForDays(
    'Days for which request and response bodies are kept, 1 to 3650; never longer than their logs. Null: the value of the level above applies.',
  )
  readonly body_retention_days: number | null;

  @ShowsRedaction()
  readonly log_redaction: LogRedaction | null;

  @ApiProperty({
    ...EXPORT_SETTINGS,
    description: 'Fields that no export of the request log may contain. Null: no such rule.',
  })
  readonly export_settings: ExportSettingsDto | null;

  @ApiTextOrNull(
    'URL that receives a POST when a budget reaches its threshold or its limit. Null: no webhook. Default: null.',
  )
  readonly alert_webhook_url: string | null;

  @ApiProperty({ description: 'Whether the calls to `alert_webhook_url` are signed.', example: false })
  readonly has_alert_webhook_secret: boolean;

  @ApiCreatedAt()
  readonly created_at: string;

  @ApiLastUpdatedAt()
  readonly last_updated_at: string;

  static from(organization: Organization): OrganizationDto {
    const { id, name, settings, createdAt, updatedAt, alertWebhookUrl, sealedAlertSecret } = organization;
    return {
      object: 'organisation',
      id,
      name,
      ...USUAL_SETTINGS,
      ...settings,
      alert_webhook_url: alertWebhookUrl,
      has_alert_webhook_secret: sealedAlertSecret !== null,
      created_at: createdAt.toISOString(),
      last_updated_at: updatedAt.toISOString(),
    };
  }
}
