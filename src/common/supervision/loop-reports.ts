import { isSupervisorMessage, type LoopReport, type StalledLoop } from '../processes/ipc.js';
import { stalledLoops } from '../loops/loop-health.js';

const EVERY_MS = 5_000;

let elsewhere: readonly StalledLoop[] = [];

/**
 * Reports the stalled loops of this process to the supervisor, and stores the reports about the other processes of this instance. Call once
 * per process, when it serves or works. Does nothing without a supervisor.
 */
export function reportLoops(): void {
  if (!process.send) return;
  process.on('message', (message) => {
    if (isSupervisorMessage(message) && message.type === 'loops') elsewhere = message.stalled;
  });
  setInterval(report, EVERY_MS).unref();
  report();
}

function report(): void {
  const message: LoopReport = { type: 'loops', stalled: stalledLoops() };
  if (process.connected) process.send?.(message);
}

/** The stalled loops of all processes of this instance, with a delay of up to ten seconds. */
export function stalledLoopsOfInstance(): readonly StalledLoop[] {
  return [...stalledLoops(), ...elsewhere];
}
