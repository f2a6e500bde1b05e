import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { totalmem } from 'node:os';
import { constrainedMemory } from 'node:process';
import type { Logger } from '../../common/observability/logger.js';
import type { PostgresBinaries } from './binaries.js';
import { MINIMAL_ENVIRONMENT } from './cluster-folder.js';
import type { RunAs } from './unprivileged.js';

/** The configuration of a server process. */
export interface ServerPlan {
  readonly binaries: PostgresBinaries;
  readonly runAs: RunAs;
  readonly folder: string;
  readonly port: number;
  readonly maxConnections: number;
  readonly logger: Logger;
}

/** First cleanly (fast shutdown: sessions end, a checkpoint is written), then immediately (recovery on the next start), then by SIGKILL. */
const STOP_STEPS = [
  ['SIGINT', 20_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const;

const LAST_WORDS = 12;

/** One run of the embedded server, from start to exit. */
export class ServerProcess {
  private readonly child: ChildProcessByStdio<null, null, Readable>;
  private readonly lastLines: string[] = [];
  /** Settles when the process has ended. */
  readonly exited: Promise<void>;
  private gone = false;

  constructor(private readonly plan: ServerPlan) {
    const [command, ...args] = [
      ...plan.runAs.prefix,
      plan.binaries.postgres,
      '-D',
      plan.folder,
      ...options(plan),
    ];
    this.child = spawn(command as string, args, {
      ...plan.runAs.spawn,
      cwd: '/',
      env: MINIMAL_ENVIRONMENT,
      stdio: ['ignore', 'ignore', 'pipe'],
      // A separate process group: Ctrl-C reaches only the launcher, which stops the server last.
      detached: true,
    });
    createInterface(this.child.stderr).on('line', (line) => this.readLine(line));
    this.exited = new Promise((resolve) => {
      this.child.once('close', () => {
        this.gone = true;
        resolve();
      });
      this.child.once('error', (error) => this.readLine(`FATAL:  ${error.message}`));
    });
  }

  get running(): boolean {
    return !this.gone;
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** The last lines of the server's output, for the error when it does not start. */
  get lastWords(): string {
    return this.lastLines.join('\n');
  }

  /** Stops the server, cleanly while there is time. `hurry` skips the clean step. */
  async stop(hurry: boolean): Promise<void> {
    for (const [signal, timeoutMs] of hurry ? STOP_STEPS.slice(1) : STOP_STEPS) {
      if (!this.running) return;
      this.child.kill(signal);
      const timeout = new AbortController();
      await Promise.race([
        this.exited,
        sleep(timeoutMs, undefined, { signal: timeout.signal }).catch(() => undefined),
      ]);
      timeout.abort();
    }
  }

  private readLine(line: string): void {
    this.lastLines.push(line);
    if (this.lastLines.length > LAST_WORDS) this.lastLines.shift();
    const serious =
      /\b(FATAL|PANIC):/.test(line) && !/is (starting up|shutting down|not yet accepting)/.test(line);
    this.plan.logger[serious ? 'warn' : 'debug']({ server: line }, 'embedded PostgreSQL');
  }
}

/**
 * PostgreSQL's default durability (fsync, synchronous_commit and full_page_writes are on), set explicitly because the product promises it.
 * Statement errors are not logged here: they contain values, and the client reports them. `jit` costs more than it saves on short queries.
 */
function options({ port, maxConnections }: ServerPlan): string[] {
  const settings: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: maxConnections,
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    shared_buffers: `${sharedBuffersMiB(memoryOfMachine())}MB`,
    max_wal_size: '1GB',
    max_locks_per_transaction: 256,
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    cluster_name: 'gatehouse',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

const MIB = 1024 * 1024;
/** PostgreSQL's default, and enough for small tables. */
const LEAST_MIB = 128;
const MOST_MIB = 2_048;
/** PostgreSQL's manual recommends a quarter of a dedicated machine. Here it shares the machine. */
const SHARE = 1 / 16;

/**
 * How much of a machine's memory the embedded server uses to cache rows, MiB. The system's page cache holds them too but can evict them at
 * any time, and each is then read from the disk between commits.
 * https://www.postgresql.org/docs/current/runtime-config-resource.html#GUC-SHARED-BUFFERS
 */
export function sharedBuffersMiB(memoryBytes: number): number {
  return Math.min(MOST_MIB, Math.max(LEAST_MIB, Math.floor((memoryBytes * SHARE) / MIB)));
}

/** Bytes that this process may use: those of the machine, or of its container. */
export function memoryOfMachine(): number {
  const limit = constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
