import { invalidField, missingField, unknownField } from '../../common/errors/field-errors.js';
import { parseDestination } from '../../common/net/destination.js';
import type { Egress } from '../../egress/egress.js';
import {
  type AuthField,
  type AuthMode,
  MANAGERS,
  type ManagerType,
  modeOf,
} from '../../external-credentials/secret-managers/manager-table.js';

/** The fields of `auth_config`, apart by whether they are secret. */
export interface ReadAuthConfig {
  readonly mode: AuthMode;
  readonly auth: Record<string, string>;
  readonly secrets: Record<string, string>;
}

type AuthConfig = Readonly<Record<string, unknown>>;

const LONGEST_SHOWN = 64;
const placed = (name: string): string => `auth_config.${name.slice(0, LONGEST_SHOWN)}`;

/**
 * Checks the fields against the manager's row, and its address against the egress rules. Throws `invalid_request`, which names the field,
 * `custom_host_invalid` and `custom_host_blocked`.
 */
export function readAuthConfig(
  type: ManagerType,
  config: AuthConfig,
  egress: Pick<Egress, 'checkDestination'>,
): ReadAuthConfig {
  const mode = modeOf(type, config) ?? unknownMode(type, config);
  const { chosenBy, fields } = mode;
  const known = new Set([...fields.map(({ name }) => name), ...(chosenBy ? [chosenBy.field] : [])]);
  const stranger = Object.keys(config).find((name) => !known.has(name));
  if (stranger !== undefined) throw unknownField(placed(stranger));
  const read: ReadAuthConfig = {
    mode,
    auth: chosenBy ? { [chosenBy.field]: chosenBy.value } : {},
    secrets: {},
  };
  for (const field of fields) {
    const value = readField(field, config[field.name], egress);
    if (value !== null) (field.isSecret ? read.secrets : read.auth)[field.name] = value;
  }
  return read;
}

function unknownMode(type: ManagerType, config: AuthConfig): never {
  const choices = MANAGERS[type].modes.flatMap(({ chosenBy }) => chosenBy ?? []);
  const field = choices[0]?.field ?? '';
  if (config[field] === undefined) throw missingField(placed(field));
  throw invalidField(placed(field), `it must be ${choices.map(({ value }) => value).join(' or ')}`);
}

function readField(
  field: AuthField,
  value: unknown,
  egress: Pick<Egress, 'checkDestination'>,
): string | null {
  if (value === undefined || value === null) {
    if (field.isOptional) return null;
    throw missingField(placed(field.name));
  }
  if (typeof value !== 'string' || !field.pattern.test(value))
    throw invalidField(placed(field.name), `it must be something like ${JSON.stringify(field.example)}`);
  if (!field.isAddress) return value;
  const url = parseDestination(value);
  egress.checkDestination(url);
  return url.href.replace(/\/+$/, '');
}
