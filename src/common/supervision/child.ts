import { createLogger, setLogLevel } from '../observability/logger.js';
import { type ChildMessage, type Go, isSupervisorMessage } from '../processes/ipc.js';

const logger = createLogger('process');

/** Sends a message to the supervisor; does nothing without one. */
export function tellSupervisor(message: ChildMessage): void {
  process.send?.(message);
}

export interface StartedChild extends Pick<Go, 'place'> {
  /** Settles when the database can be used; null when it can be from the start. */
  readonly database: Promise<void> | null;
}

/** Settles when the supervisor lets the settings be read; at once without one. */
export function startSignal(): Promise<StartedChild> {
  if (!process.send) return Promise.resolve({ place: 0, database: null });
  dieWithSupervisor();
  followLogLevel();
  return new Promise((resolve) => {
    const onMessage = (message: unknown): void => {
      if (!isSupervisorMessage(message)) return;
      if (message.type === 'drain') process.exit(0);
      if (message.type !== 'go') return;
      process.off('message', onMessage);
      const { place, awaitsDatabase } = message;
      resolve({ place, database: awaitsDatabase ? databaseSignal() : null });
    };
    process.on('message', onMessage);
    tellSupervisor({ type: 'loaded' });
  });
}

function followLogLevel(): void {
  process.on('message', (message) => {
    if (!isSupervisorMessage(message) || message.type !== 'log-level') return;
    setLogLevel(message.level);
    logger.debug('This process logs at the level debug.');
  });
  // A signal to the whole group is for the supervisor; without a listener it would end this process.
  process.on('SIGUSR2', () => undefined);
}

function databaseSignal(): Promise<void> {
  return new Promise((resolve) => {
    const onMessage = (message: unknown): void => {
      if (!isSupervisorMessage(message) || message.type !== 'database') return;
      process.off('message', onMessage);
      resolve();
    };
    process.on('message', onMessage);
  });
}

export interface SupervisorOptions {
  /** Finishes and exits. Called once, also for SIGTERM and, without a supervisor, for SIGINT. */
  readonly drain: (isImmediate: boolean) => Promise<void>;
}

/**
 * Follows the supervisor's messages. When it dies, this process exits, because nothing could stop it any more. Accepted data is safe on
 * disk by then. Ctrl-C reaches all processes of a terminal; under a supervisor, only the supervisor handles it.
 */
export function onSupervisor({ drain }: SupervisorOptions): void {
  let isDraining = false;
  const once = (isImmediate: boolean): void => {
    if (isDraining) return;
    isDraining = true;
    drain(isImmediate).catch((error: unknown) => {
      logger.fatal({ err: error }, 'The process cannot end in order.');
      process.exit(1);
    });
  };
  process.on('message', (message) => {
    if (isSupervisorMessage(message) && message.type === 'drain') once(message.immediate);
  });
  dieWithSupervisor();
  process.on('SIGTERM', () => {
    once(false);
  });
  process.on('SIGINT', () => {
    if (!process.send) once(true);
  });
  process.on('unhandledRejection', (error) => {
    logger.error({ err: error }, 'A promise was rejected without a handler.');
  });
}

/** Loading the code takes a second or two, during which the channel may have closed without a listener. */
function dieWithSupervisor(): void {
  if (process.send && !process.connected) process.exit(1);
  process.once('disconnect', () => process.exit(1));
}
