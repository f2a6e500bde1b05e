import { createLogger, setLogLevel } from '../common/observability/logger.js';
import type { LogLevel } from '../common/settings/log-settings.js';

const logger = createLogger('launcher');

/**
 * SIGUSR2 switches between the configured log level and `debug`, without a restart. `tell` passes the level on to the other processes. Only
 * the user of the process and root can send it. SIGUSR1 is taken: it opens Node's debugger.
 * https://nodejs.org/docs/latest-v20.x/api/process.html#signal-events
 */
export function switchLogLevelOnSignal(configured: LogLevel, tell: (level: LogLevel) => void): void {
  let level = configured;
  process.on('SIGUSR2', () => {
    const next = level === configured ? 'debug' : configured;
    // Written at the lower of both levels, so that it is visible.
    if (next === 'debug') setLogLevel(next);
    logger.info({ log_level: next }, 'The log level was changed by SIGUSR2.');
    setLogLevel(next);
    level = next;
    tell(next);
  });
}
