import type { LoggerService } from '@nestjs/common';
import { createLogger } from './logger.js';

const logger = createLogger('nest');

/** Nest's own log lines, in the process's log. Its start-up messages are logged at debug level only. */
export const nestLogger: LoggerService = {
  log: (message: unknown) => {
    logger.debug(String(message));
  },
  debug: (message: unknown) => {
    logger.debug(String(message));
  },
  verbose: (message: unknown) => {
    logger.debug(String(message));
  },
  warn: (message: unknown) => {
    logger.warn(String(message));
  },
  error: (message: unknown, ...rest: unknown[]) => {
    logger.error({ rest }, String(message));
  },
  fatal: (message: unknown, ...rest: unknown[]) => {
    logger.fatal({ rest }, String(message));
  },
};
