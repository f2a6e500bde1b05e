import { ArrayMaxSize, ArrayUnique, IsArray, IsIn } from 'class-validator';
import {
  SWITCH_NAMES,
  type SwitchedRole,
  type SwitchName,
  SWITCHES,
} from '../../auth/permissions/switches.js';
import { rule } from '../../common/http/validators.js';
import { EXPORT_FIELD_NAMES } from '../../request-log/log-export.js';

const SWITCHED: Readonly<Record<SwitchedRole, string>> = {
  organization_admin: 'admins of the organization',
  manager: 'workspace admins and managers',
  member: 'workspace members',
};

const meaningOfSwitch = (name: SwitchName): string =>
  `Whether ${SWITCHED[SWITCHES[name].role]} may ${SWITCHES[name].meaning}. Default: ${SWITCHES[name].usual}.`;

export const SWITCHES_SCHEMA = {
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

export const AreSwitches = (): PropertyDecorator =>
  rule(
    'areSwitches',
    `it must be an object of booleans with the names ${SWITCH_NAMES.join(', ')}`,
    isSwitches,
  );

export const EXPORT_SETTINGS = {
  type: 'object' as const,
  nullable: true,
  additionalProperties: false,
  required: ['deniedFields'],
  // An optional field cannot declare the required fields of its object: https://github.com/nestjs/swagger (ApiPropertyOptional sets
  // `required`).
  minProperties: 1,
  properties: {
    deniedFields: {
      description: 'Names of the fields that exports may not contain.',
      type: 'array' as const,
      items: { type: 'string' as const, enum: [...EXPORT_FIELD_NAMES] },
      maxItems: EXPORT_FIELD_NAMES.length,
      uniqueItems: true,
    },
  },
  example: { deniedFields: ['request', 'response'] },
};

export class ExportSettingsDto {
  /** Fields that exports of the log may not contain. */
  @IsArray()
  @ArrayMaxSize(EXPORT_FIELD_NAMES.length)
  @ArrayUnique()
  @IsIn(EXPORT_FIELD_NAMES, { each: true })
  readonly deniedFields: readonly string[];
}
