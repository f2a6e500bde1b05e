import { settingsSchema } from './settings-schema.js';
import type { Settings } from './settings.js';

/**
 * The level of the process's own log lines, readable before the settings are validated: their errors may themselves have to be logged. An
 * invalid level counts as the default here; `loadSettings` reports it.
 */
export function logLevel(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Settings['logLevel'] {
  const rule = settingsSchema.shape.GATEHOUSE_LOG_LEVEL;
  const given = rule.safeParse(environment['GATEHOUSE_LOG_LEVEL'] || undefined);
  return given.success ? given.data : rule.parse(undefined);
}
