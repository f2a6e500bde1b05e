import type { Duplex } from 'node:stream';
import { AppError } from '../../common/errors/app-error.js';
import { CLOSE_CODES } from './frames.js';
import type { RealtimeSession } from './session.js';

/** Maximum sessions of a process: each holds two sockets. */
const SESSIONS_MAX = 10_000;

/** How often running sessions are checked. A revoked key ends a session within this time plus that of the change notification. */
const CHECK_MS = 1_000;

/** Repeats the checks made before the session began; rejects with the reason to end it. */
type SessionCheck = () => Promise<void>;

interface RunningSession {
  readonly session: RealtimeSession;
  readonly mayGoOn: SessionCheck;
  isBeingChecked: boolean;
}

/** The sessions of this process: ends those whose key was revoked or whose reader is stuck, and all of them when the process stops. */
export class RealtimeSessions {
  private readonly running = new Map<RealtimeSession, RunningSession>();
  private readonly opening = new Set<Duplex>();
  private timer: NodeJS.Timeout | undefined;
  private isClosing = false;

  constructor(private readonly stallMs: number) {}

  /** Throws `overloaded` or `draining`. */
  checkSessionLimit(): void {
    if (this.isClosing) throw new AppError('draining');
    if (this.running.size >= SESSIONS_MAX) throw new AppError('overloaded');
  }

  isOpening(socket: Duplex): void {
    this.opening.add(socket);
    socket.once('close', () => this.opening.delete(socket));
  }

  add(session: RealtimeSession, socket: Duplex, mayGoOn: SessionCheck): void {
    this.opening.delete(socket);
    this.running.set(session, { session, mayGoOn, isBeingChecked: false });
    this.timer ??= setInterval(() => this.check(), CHECK_MS);
    if (this.isClosing) goAway(session);
  }

  remove(session: RealtimeSession): void {
    this.running.delete(session);
    if (this.running.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  close(): void {
    this.isClosing = true;
    for (const socket of this.opening) socket.destroy();
    for (const session of [...this.running.keys()]) goAway(session);
  }

  private check(): void {
    const now = performance.now();
    for (const running of [...this.running.values()]) {
      running.session.checkStall(now, this.stallMs);
      if (!running.isBeingChecked) void ask(running);
    }
  }
}

function goAway(session: RealtimeSession): void {
  session.close({ code: CLOSE_CODES.goingAway, reason: 'the gateway is shutting down' }, 'draining');
}

/** An unavailable store says nothing about the key: the session goes on. */
async function ask(running: RunningSession): Promise<void> {
  running.isBeingChecked = true;
  try {
    await running.mayGoOn();
  } catch (thrown) {
    const { spec, code } = AppError.from(thrown);
    if (spec.status < 500) running.session.close({ code: CLOSE_CODES.policyViolation, reason: code }, code);
  } finally {
    running.isBeingChecked = false;
  }
}
