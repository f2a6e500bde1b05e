import { settingsSchema } from './settings-schema.js';
import type { Settings } from './settings.js';

export type LogLevel = Settings['logLevel'];

type LogEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The level of the process's own log lines, readable before the settings are validated: their errors may themselves have to be logged. An
 * invalid level counts as the default here; `loadSettings` reports it.
 */
export function logLevel(environment: LogEnvironment = process.env): LogLevel {
  const rule = settingsSchema.shape.GATEHOUSE_LOG_LEVEL;
  const parsed = rule.safeParse(environment['GATEHOUSE_LOG_LEVEL'] || undefined);
  return parsed.success ? parsed.data : rule.parse(undefined);
}

/** Read early, like the level: every connection measures its statements, also those of commands. */
export function slowStatementMs(environment: LogEnvironment = process.env): number {
  const rule = settingsSchema.shape.GATEHOUSE_SLOW_STATEMENT_MS;
  const parsed = rule.safeParse(environment['GATEHOUSE_SLOW_STATEMENT_MS'] || undefined);
  return parsed.success ? parsed.data : rule.parse(undefined);
}

/** Readable lines on a terminal and JSON in a pipe, unless the setting says otherwise. Read early, like the level. */
export function logFormat(
  environment: LogEnvironment = process.env,
  isTerminal: boolean = process.stdout.isTTY,
): 'json' | 'text' {
  const parsed = settingsSchema.shape.GATEHOUSE_LOG_FORMAT.safeParse(environment['GATEHOUSE_LOG_FORMAT']);
  if (parsed.success && parsed.data !== 'auto') return parsed.data;
  return isTerminal ? 'text' : 'json';
}
