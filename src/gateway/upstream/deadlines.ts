import { setTimeout as delay } from 'node:timers/promises';
import { Roster, type RosterMember } from '../../common/processes/roster.js';
import type { UpstreamTimeouts } from '../../common/settings/settings.js';

/** The timeout that an attempt exceeded. */
export type Phase = 'first byte' | 'idle' | 'total';

/** How often running attempts are checked. A timeout is late by this much at most. */
const TICK_MS = 20;

/**
 * The clock of one attempt. The attempt advances it with plain assignments; no timer is set or cleared per chunk, because one timer checks
 * all running attempts.
 */
export interface WatchedAttempt extends RosterMember {
  readonly startedAt: number;
  /** When the last byte arrived or the client took the last chunk; changes only after the first byte. */
  lastActivityAt: number;
  hasFirstByte: boolean;
  readonly limits: Pick<UpstreamTimeouts, 'firstByteMs' | 'idleMs' | 'totalMs'>;
  onDeadline(phase: Phase, timeoutMs: number): void;
}

const watched = new Roster<WatchedAttempt>();
let timer: NodeJS.Timeout | undefined;

/** Resolves when no attempt is running, and after `withinMs` at the latest. */
export async function attemptsEnded(withinMs: number): Promise<void> {
  const end = performance.now() + withinMs;
  while (watched.size > 0 && performance.now() < end) await delay(TICK_MS);
}

export function watch(attempt: WatchedAttempt): void {
  watched.add(attempt);
  timer ??= setInterval(look, TICK_MS);
}

export function unwatch(attempt: WatchedAttempt): void {
  watched.delete(attempt);
  if (watched.size > 0 || !timer) return;
  clearInterval(timer);
  timer = undefined;
}

function look(): void {
  const now = performance.now();
  for (const attempt of watched.all()) {
    const passed = passedDeadline(attempt, now);
    if (!passed) continue;
    watched.delete(attempt);
    attempt.onDeadline(passed, limitOf(attempt, passed));
  }
}

function passedDeadline(
  { startedAt, lastActivityAt, hasFirstByte, limits }: WatchedAttempt,
  now: number,
): Phase | null {
  if (now - startedAt >= limits.totalMs) return 'total';
  if (!hasFirstByte) return now - startedAt >= limits.firstByteMs ? 'first byte' : null;
  return now - lastActivityAt >= limits.idleMs ? 'idle' : null;
}

function limitOf({ limits }: WatchedAttempt, phase: Phase): number {
  return { 'first byte': limits.firstByteMs, idle: limits.idleMs, total: limits.totalMs }[phase];
}
