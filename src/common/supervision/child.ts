import { createLogger } from '../observability/logger.js';
import { type ChildMessage, type Go, isSupervisorMessage } from '../processes/ipc.js';

const logger = createLogger('process');

/** Says something to the supervisor; nothing when the process runs on its own. */
export function tellSupervisor(message: ChildMessage): void {
  process.send?.(message);
}

export interface StartedChild extends Pick<Go, 'place'> {
  /** Settles when the database may be asked; null when it may be from the beginning. */
  readonly database: Promise<void> | null;
}

/** Settles when the supervisor says that the settings can be read; at once without one. */
export function supervisorSaysGo(): Promise<StartedChild> {
  if (!process.send) return Promise.resolve({ place: 0, database: null });
  dieWithSupervisor();
  return new Promise((resolve) => {
    const hear = (message: unknown): void => {
      if (!isSupervisorMessage(message)) return;
      if (message.type === 'drain') process.exit(0);
      if (message.type !== 'go') return;
      process.off('message', hear);
      const { place, awaitsDatabase } = message;
      resolve({ place, database: awaitsDatabase ? supervisorSaysDatabase() : null });
    };
    process.on('message', hear);
    tellSupervisor({ type: 'loaded' });
  });
}

function supervisorSaysDatabase(): Promise<void> {
  return new Promise((resolve) => {
    const hear = (message: unknown): void => {
      if (!isSupervisorMessage(message) || message.type !== 'database') return;
      process.off('message', hear);
      resolve();
    };
    process.on('message', hear);
  });
}

export interface SupervisorWishes {
  /** Finish and exit. Called once, also for SIGTERM and, on its own, for SIGINT. */
  readonly drain: (isImmediate: boolean) => Promise<void>;
}

/**
 * Obeys the supervisor. When it dies, so does this process: nobody would be left to stop it. What was
 * accepted is safe on disk by then. Ctrl-C reaches a whole terminal's processes; under a supervisor it is
 * the supervisor's to answer.
 */
export function onSupervisor({ drain }: SupervisorWishes): void {
  let isDraining = false;
  const once = (isImmediate: boolean): void => {
    if (isDraining) return;
    isDraining = true;
    drain(isImmediate).catch((error: unknown) => {
      logger.fatal({ err: error }, 'the process cannot end in order');
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
    logger.error({ err: error }, 'an unhandled rejection');
  });
}

/** Loading the code takes a second or two, in which the channel may have closed with nobody listening yet. */
function dieWithSupervisor(): void {
  if (process.send && !process.connected) process.exit(1);
  process.once('disconnect', () => process.exit(1));
}
