import { SECRET_SETTINGS } from '../../common/settings/settings.js';
import { isSetting } from '../running-settings.js';

/** Numbers, durations, sizes, switches and names of modes. Anything longer may be an address, a path or a secret. */
const HARMLESS = /^(\d{1,15}(\.\d{1,6})?(ms|s|m|h|d)?|[a-z]{1,12}\d?)$/;
const IS_SECRET: ReadonlySet<string> = new Set(SECRET_SETTINGS);

/** Which settings are given, with the values that cannot identify or open anything. */
export function settingsPart(environment: Readonly<Record<string, string | undefined>>): object {
  const set = Object.entries(environment).filter(([name, value]) => isSetting(name) && value);
  return Object.fromEntries(
    set
      .map(([name, value = '']) => [name, shown(name, value)] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

function shown(name: string, value: string): string {
  if (IS_SECRET.has(name.replace(/_FILE$/, '')) || name.endsWith('_HEADERS')) return '***';
  return HARMLESS.test(value) ? value : `(set, ${value.length} characters)`;
}
