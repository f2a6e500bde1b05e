import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../../common/observability/logger.js';
import {
  type ChildMessage,
  type Go,
  isChildMessage,
  type SupervisorMessage,
} from '../../common/processes/ipc.js';
import { LauncherError } from '../launcher-error.js';
import { BackOff } from './back-off.js';

const logger = createLogger('launcher');

/** Failed starts in a row before a process was ready for the first time. One that has worked before is restarted indefinitely. */
const FAILED_STARTS = 5;
/** A signal to a whole process group may arrive here after the processes that it ended: the kernel may deliver a signal to any thread. */
const GROUP_SIGNAL_MS = 50;

export interface KeptProcessOptions {
  readonly name: string;
  /** Index among the processes of its kind, from 0. */
  readonly place: number;
  readonly spawn: () => ChildProcess;
  readonly onMessage: (message: ChildMessage, from: KeptProcess) => void;
  /** The process cannot be started. */
  readonly onLost: (error: LauncherError) => void;
}

/** A slot in which one child process runs, and is replaced after it ends, until the slot is closed. */
export class KeptProcess {
  private readonly backOff = new BackOff();
  private child: ChildProcess | null = null;
  private exited: Promise<void> = Promise.resolve();
  private failedStarts = 0;
  private hasWorked = false;
  private restartCount = 0;
  private closing = false;
  /** The message for a process that has loaded its code; null while none may begin. */
  private go: Go | null = null;
  /** The process listens: messages to a node:cluster process before that are lost. */
  private isLoaded = false;
  private isReady = false;
  private announceReady: () => void = () => undefined;
  /** Settles when a process was ready for the first time. */
  readonly ready = new Promise<void>((resolve) => (this.announceReady = resolve));

  constructor(private readonly keeping: KeptProcessOptions) {}

  get name(): string {
    return this.keeping.name;
  }

  /** The number of unexpected exits. */
  get restarts(): number {
    return this.restartCount;
  }

  get running(): boolean {
    return this.child !== null;
  }

  /** Whether the current process serves (or works). */
  get serves(): boolean {
    return this.child !== null && this.isReady;
  }

  start(): void {
    const child = this.keeping.spawn();
    this.child = child;
    this.isLoaded = false;
    this.isReady = false;
    this.backOff.started();
    child.on('message', (message: unknown) => this.receive(message));
    this.exited = new Promise((resolve) => {
      const gone = (how: string): void => {
        if (this.child !== child) return;
        this.child = null;
        resolve();
        if (!this.closing) void this.revive(how);
      };
      child.once('error', (error) => gone(error.message));
      child.once('exit', (code, signal) => gone(signal ?? `code ${String(code)}`));
    });
  }

  /**
   * Lets the current and all later processes in this slot read their settings and begin: with `awaitsDatabase` from the snapshot, until it
   * is called again without.
   */
  release(awaitsDatabase = false): void {
    const hasBegun = this.go !== null;
    this.go = { type: 'go', place: this.keeping.place, awaitsDatabase };
    if (this.isLoaded) this.tell(hasBegun ? { type: 'database' } : this.go);
  }

  tell(message: SupervisorMessage): void {
    if (this.child?.connected) this.child.send(message, () => undefined);
  }

  /** From now on a process that ends is not replaced: a signal to the whole group reaches it before `close` does. */
  letEnd(): void {
    this.closing = true;
  }

  /**
   * Asks the process to finish, and waits. It is killed after this time; if it is not ready yet, it has nothing to finish and is killed at
   * once.
   */
  async close(immediate: boolean, withinMs: number): Promise<void> {
    this.closing = true;
    if (this.isReady) this.tell({ type: 'drain', immediate });
    else this.child?.kill('SIGKILL');
    const timeout = new AbortController();
    const killed = sleep(withinMs, undefined, { signal: timeout.signal }).then(
      () => this.kill(withinMs),
      () => undefined,
    );
    await this.exited;
    timeout.abort();
    await killed;
  }

  /** The second signal: work unfinished within this time is aborted. */
  hurry(withinMs: number): void {
    this.tell({ type: 'drain', immediate: true });
    setTimeout(() => this.kill(withinMs), withinMs).unref();
  }

  kill(afterMs: number): void {
    if (!this.child) return;
    logger.warn(
      { process: this.name, after_ms: afterMs },
      'A process did not finish in time and was killed.',
    );
    this.child.kill('SIGKILL');
  }

  private receive(message: unknown): void {
    if (!isChildMessage(message)) return;
    if (message.type === 'loaded') {
      this.isLoaded = true;
      if (this.go) this.tell(this.go);
    }
    if (message.type === 'ready') {
      this.hasWorked = true;
      this.isReady = true;
      this.announceReady();
    }
    this.keeping.onMessage(message, this);
  }

  private async revive(how: string): Promise<void> {
    await sleep(GROUP_SIGNAL_MS);
    if (this.closing) return;
    this.restartCount++;
    if (!this.hasWorked && ++this.failedStarts >= FAILED_STARTS) {
      const reason = `${FAILED_STARTS} times in a row, last with ${how}. The lines above say why`;
      return this.keeping.onLost(
        new LauncherError(`The ${this.name} process ended before it was ready, ${reason}.`),
      );
    }
    const waitMs = this.backOff.next();
    logger.error({ process: this.name, how, wait_ms: waitMs }, 'A process ended. Starting another one.');
    await sleep(waitMs);
    if (!this.closing) this.start();
  }
}
