import { type DestinationStream, type Logger, pino } from 'pino';
import { CREDENTIAL_HEADERS } from '../http/credential-headers.js';
import { logLevel } from '../settings/log-level.js';

export type { Logger } from 'pino';

/** Credential fields in logged objects: our own, request headers, and errors of HTTP clients and of `pg`. */
const CREDENTIAL_FIELDS = [
  ...CREDENTIAL_HEADERS,
  'apiKey',
  'api_key',
  'key',
  'secret',
  'token',
  'password',
  'credentials',
  'connectionString',
  'databaseUrl',
  'redisUrl',
];

/** pino matches paths, not names, so each name is listed for the three depths at which objects are logged. */
const CREDENTIAL_PATHS = CREDENTIAL_FIELDS.flatMap((name) => [
  `["${name}"]`,
  `*["${name}"]`,
  `*.*["${name}"]`,
]);

/**
 * Creates the root logger: one JSON object per line, ISO time, level by name, credentials masked. `destination` is for tests; default:
 * standard output, written synchronously, so that a crash loses no line.
 */
export function buildLogger(destination?: DestinationStream): Logger {
  return pino(
    {
      level: logLevel(),
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: CREDENTIAL_PATHS, censor: '***' },
    },
    destination ?? pino.destination({ fd: 1, sync: true }),
  );
}

/** The log of this process. */
export const logger: Logger = buildLogger();

/** The log of one component (`launcher`, `spool`, `shipper`), named in each of its lines. */
export function createLogger(room: string): Logger {
  return logger.child({ room });
}
