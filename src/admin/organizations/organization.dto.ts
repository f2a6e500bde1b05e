import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsObject,
  IsString,
  Length,
  ValidateNested,
} from 'class-validator';
import {
  SWITCH_NAMES,
  type SwitchedRole,
  type SwitchName,
  SWITCHES,
} from '../../auth/permissions/switches.js';
import { type PolicyFlags, USUAL_SETTINGS } from '../../common/contracts/organization-settings.js';
import type { Organization } from '../tenancy/organization.entity.js';
import { IfGiven, OrNull, rule } from '../../common/http/validators.js';
import { EXPORT_FIELD_NAMES } from '../../request-log/log-export.js';
import type { LogRedaction } from '../../common/contracts/log-redaction.js';
import { ApiId, ApiMoment, ApiTextOrNull, MayTakeName } from '../dto-fields/fields.js';
import { ShowsRedaction, TakesRedaction } from '../dto-fields/redaction.dto.js';
import { KeepsForDays, TakesDays } from '../dto-fields/retention.dto.js';

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

const SWITCHED: Readonly<Record<SwitchedRole, string>> = {
  organization_admin: 'admins of the organization',
  manager: 'workspace admins and managers',
  member: 'workspace members',
};

const meaningOfSwitch = (name: SwitchName): string =>
  `Whether ${SWITCHED[SWITCHES[name].role]} may ${SWITCHES[name].meaning}. Default: ${SWITCHES[name].usual}.`;

const SWITCHES_SCHEMA = {
  type: 'object',
  nullable: true,
  additionalProperties: false,
  properties: Object.fromEntries(
    SWITCH_NAMES.map((name) => [name, { type: 'boolean' as const, description: meaningOfSwitch(name) }]),
  ),
  example: { membersViewLogs: false },
} as const;

const isSwitches = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).every(
    ([name, position]) => (SWITCH_NAMES as readonly string[]).includes(name) && typeof position === 'boolean',
  );

const AreSwitches = (): PropertyDecorator =>
  rule(
    'areSwitches',
    `it must be an object of booleans with the names ${SWITCH_NAMES.join(', ')}`,
    isSwitches,
  );

const EXPORT_SETTINGS = {
  type: 'object' as const,
  nullable: true,
  additionalProperties: false,
  required: ['deniedFields'],
  // An optional field cannot declare the required fields of its object: https://github.com/nestjs/swagger (ApiPropertyOptional sets
  // `required`).
  minProperties: 1,
  properties: {
    deniedFields: {
      type: 'array' as const,
      items: { type: 'string' as const, enum: [...EXPORT_FIELD_NAMES] },
      maxItems: EXPORT_FIELD_NAMES.length,
      uniqueItems: true,
    },
  },
  example: { deniedFields: ['request', 'response'] },
};

class ExportSettingsDto {
  /** Fields that exports of the log may not contain. */
  @IsArray()
  @ArrayMaxSize(EXPORT_FIELD_NAMES.length)
  @ArrayUnique()
  @IsIn(EXPORT_FIELD_NAMES, { each: true })
  readonly deniedFields: string[];
}

/** Omitted fields stay unchanged; null restores the default. */
export class UpdateOrganizationDto {
  @MayTakeName('Example Inc.')
  readonly name?: string;

  /** Rights of roles beyond their defaults. Omitted switches stay unchanged. */
  @ApiPropertyOptional(SWITCHES_SCHEMA)
  @OrNull()
  @IsObject()
  @AreSwitches()
  readonly security_settings?: PolicyFlags | null;

  @ApiPropertyOptional({ type: [String], nullable: true, example: ['openai', 'anthropic'] })
  @OrNull()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_PROVIDERS)
  @Length(1, 64, { each: true })
  readonly allowed_providers?: string[] | null;

  @ApiPropertyOptional({ type: [String], nullable: true, example: ['gpt-5', 'claude-sonnet-5'] })
  @OrNull()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_MODELS)
  @Length(1, LONGEST_MODEL, { each: true })
  readonly allowed_models?: string[] | null;

  @ApiPropertyOptional({ example: true })
  @IfGiven()
  @IsBoolean()
  readonly log_bodies?: boolean;

  /** Refuse requests that cannot be recorded, for example because the disk is full. */
  @ApiPropertyOptional({ example: false })
  @IfGiven()
  @IsBoolean()
  readonly strict_logging?: boolean;

  /** Guardrails of the organization for every request, before those of its workspace and its config. */
  @ApiPropertyOptional(GUARDRAILS)
  @AreGuardrails()
  readonly input_guardrails?: string[] | null;

  /** The same for responses. */
  @ApiPropertyOptional(GUARDRAILS)
  @AreGuardrails()
  readonly output_guardrails?: string[] | null;

  /** Retention of request logs in days, unless their workspace sets its own; null for the installation's. */
  @TakesDays()
  readonly log_retention_days?: number | null;

  /** The same for request and response bodies. They are kept no longer than their logs. */
  @TakesDays()
  readonly body_retention_days?: number | null;

  /** Content that the log must not keep: header values, paths in JSON bodies, and text that matches a pattern. */
  @TakesRedaction()
  readonly log_redaction?: LogRedaction | null;

  /** Fields that exports of the log may not contain; null for no restriction. */
  @ApiPropertyOptional(EXPORT_SETTINGS)
  @OrNull()
  @IsObject()
  @ValidateNested()
  @Type(() => ExportSettingsDto)
  readonly export_settings?: ExportSettingsDto | null;

  /** URL for alerts about reached thresholds and exhausted budgets; null for none. */
  @ApiPropertyOptional({ type: String, nullable: true, example: 'https://hooks.example.com/budgets' })
  @OrNull()
  @IsString()
  @Length(1, LONGEST_URL)
  readonly alert_webhook_url?: string | null;

  /** Signing secret of those calls. It is never shown again; null for none. */
  @ApiPropertyOptional({ type: String, nullable: true, example: 'a long random text' })
  @OrNull()
  @IsString()
  @Length(1, LONGEST_SECRET)
  readonly alert_webhook_secret?: string | null;
}

/** The caller's organization and its settings for all workspaces. */
export class OrganizationDto {
  @ApiProperty({ enum: ['organisation'] })
  readonly object = 'organisation';

  @ApiId()
  readonly id: string;

  @ApiProperty({ example: 'Example Inc.' })
  readonly name: string;

  /** Only the switches that were set; the others have their defaults. */
  @ApiProperty(SWITCHES_SCHEMA)
  readonly security_settings: PolicyFlags | null;

  /** Providers that may be used; null for all. */
  @ApiProperty({ type: [String], nullable: true, example: null })
  readonly allowed_providers: readonly string[] | null;

  /** Models that may be requested; null for all. */
  @ApiProperty({ type: [String], nullable: true, example: null })
  readonly allowed_models: readonly string[] | null;

  /** False: the log keeps no bodies of this organization. */
  @ApiProperty({ example: true })
  readonly log_bodies: boolean;

  /** True: a request that cannot be recorded is refused. */
  @ApiProperty({ example: false })
  readonly strict_logging: boolean;

  /** Guardrails for every request; null for none. */
  @ApiProperty(GUARDRAILS)
  readonly input_guardrails: readonly string[] | null;

  @ApiProperty(GUARDRAILS)
  readonly output_guardrails: readonly string[] | null;

  /** Retention of request logs in days, unless their workspace sets its own; null for the installation's. */
  @KeepsForDays()
  readonly log_retention_days: number | null;

  /** The same for bodies. */
  @KeepsForDays()
  readonly body_retention_days: number | null;

  /** Content that the log does not keep. */
  @ShowsRedaction()
  readonly log_redaction: LogRedaction | null;

  @ApiProperty(EXPORT_SETTINGS)
  readonly export_settings: ExportSettingsDto | null;

  /** URL for alerts about reached thresholds and exhausted budgets. */
  @ApiTextOrNull()
  readonly alert_webhook_url: string | null;

  /** Whether those calls are signed. */
  @ApiProperty({ example: false })
  readonly has_alert_webhook_secret: boolean;

  @ApiMoment()
  readonly created_at: string;

  @ApiMoment()
  readonly last_updated_at: string;

  static from(organization: Organization): OrganizationDto {
    const { id, name, settings, createdAt, updatedAt, alertWebhookUrl, sealedAlertSecret } = organization;
    return Object.assign(new OrganizationDto(), {
      id,
      name,
      ...USUAL_SETTINGS,
      ...settings,
      alert_webhook_url: alertWebhookUrl,
      has_alert_webhook_secret: sealedAlertSecret !== null,
      created_at: createdAt.toISOString(),
      last_updated_at: updatedAt.toISOString(),
    });
  }
}
