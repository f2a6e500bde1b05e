import { type DestinationStream, type Logger, pino } from 'pino';
import { CREDENTIAL_HEADERS } from '../http/credential-headers.js';
import { withCopies } from './log-output.js';
import { logFormat, type LogLevel, logLevel } from '../settings/log-settings.js';
import { readableLines } from './readable-lines.js';

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
 * Creates the root logger: one JSON object per line, or a readable line on a terminal; ISO time, level by name, credentials masked.
 * `destination` is for tests; default: standard output, written synchronously, so that a crash loses no line.
 */
export function buildLogger(destination: DestinationStream = standardOutput()): Logger {
  return pino(
    {
      level: logLevel(),
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      redact: { paths: CREDENTIAL_PATHS, censor: '***' },
    },
    destination,
  );
}

/** Failures of the network, also as the clients of stores name them. Their stack leads into the client, not to the cause. */
const NETWORK_FAILURE = /^(E[A-Z]+|EAI_\w+|MaxRetriesPerRequestError)$/;

function describeError(error: Error): unknown {
  const described: { stack?: string } = pino.stdSerializers.err(error);
  const { code, name } = error as NodeJS.ErrnoException;
  if (NETWORK_FAILURE.test(code ?? name)) delete described.stack;
  return described;
}

function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true });
  return withCopies(logFormat() === 'text' ? readableLines(output) : output);
}

/** The log of this process. */
export const logger: Logger = buildLogger();

const components = new Map<string, Logger>();

/** The log of one component (`launcher`, `spool`, `shipper`), named in each of its lines. */
export function createLogger(component: string): Logger {
  const known = components.get(component) ?? logger.child({ component });
  components.set(component, known);
  return known;
}

/** Changes the level of this process's log. A logger keeps the level of its creation, so each component gets it. */
export function setLogLevel(level: LogLevel): void {
  for (const each of [logger, ...components.values()]) each.level = level;
}
