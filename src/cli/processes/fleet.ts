import { fork } from 'node:child_process';
import cluster from 'node:cluster';
import { setPriority } from 'node:os';
import { GATEWAY_NODE_OPTIONS } from '../../common/processes/heap-shape.js';
import type { ChildEnvironment } from '../launch-plan.js';
import type { LauncherError } from '../launcher-error.js';
import { type KeptProcessOptions, KeptProcess } from './kept-process.js';
import { LoopWatch } from './loop-watch.js';
import { MergedMetrics } from './merged-metrics.js';
import type { LogLevel } from '../../common/settings/log-settings.js';

export interface FleetPlan {
  /** Number of gateway processes; 0 when this instance only runs jobs. */
  readonly gateways: number;
  /** Absolute paths of the programs. */
  readonly programs: Readonly<Record<'gateway' | 'administration' | 'worker', string>>;
  readonly environment: ChildEnvironment;
  readonly onLost: (error: LauncherError) => void;
}

/** How long gateways may take to finish their streams, and the worker to store what they wrote, in milliseconds. */
export interface DrainBounds {
  readonly delayMs: number;
  readonly timeoutMs: number;
  readonly spoolMs: number;
}

const NO_STDIN = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
/** Beyond the time for streams: to flush buffers and exit. */
const EXIT_MARGIN_MS = 5_000;
/** Beyond the time for the spool: to finish jobs and exit. */
const WORKER_MARGIN_MS = 10_000;
const HURRY_MS = 1_000;
/**
 * Niceness of the administration and the worker. On a busy machine model requests go first: the administration slows down, and the spool is
 * stored when there is time.
 */
const BEHIND_THE_GATEWAYS = 5;

/** All processes of this instance: N gateways that share one port (node:cluster), the administration that they relay to, and one worker. */
export class Fleet {
  private readonly metrics = new MergedMetrics(() => this.all);
  private readonly loops = new LoopWatch(() => this.all);
  private readonly gateways: readonly KeptProcess[];
  /** Empty without a gateway to relay to it. */
  private readonly administration: readonly KeptProcess[];
  private readonly worker: KeptProcess;
  private hurried = false;
  /** Null while all processes log at the configured level. */
  private logLevel: LogLevel | null = null;

  constructor(private readonly plan: FleetPlan) {
    // Each process accepts from the shared socket itself. With the supervisor distributing connections, one whose process is killed before
    // taking it would hang indefinitely.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({
      exec: plan.programs.gateway,
      args: [],
      execArgv: [...process.execArgv, ...GATEWAY_NODE_OPTIONS],
      stdio: [...NO_STDIN],
    });
    this.gateways = Array.from({ length: plan.gateways }, (_, place) =>
      this.keep('gateway', () => cluster.fork(plan.environment).process, place),
    );
    this.administration =
      plan.gateways === 0 ? [] : [this.keep('administration', () => forkProgram(plan, 'administration'))];
    this.worker = this.keep('worker', () => forkProgram(plan, 'worker'));
  }

  private get all(): readonly KeptProcess[] {
    return [...this.gateways, ...this.administration, this.worker];
  }

  start(): void {
    for (const kept of this.all) kept.start();
    this.loops.start();
  }

  /** Signals that the database is available: until then processes only load their code, or serve from the snapshot. */
  release(): void {
    for (const kept of this.all) kept.release();
  }

  /** In an outage only the gateways start, from the snapshot. Settles when they serve. */
  async serveWithoutDatabase(): Promise<void> {
    for (const kept of this.gateways) kept.release(true);
    await Promise.all(this.gateways.map(({ ready }) => ready));
  }

  /** Settles when requests are served; without gateways, when background work has begun. */
  async ready(): Promise<void> {
    const serving = [...this.gateways, ...this.administration];
    await Promise.all((serving.length > 0 ? serving : [this.worker]).map(({ ready }) => ready));
  }

  /**
   * Ends all processes: the administration after the gateways, which relay to it until they end, and the worker last, because it stores
   * what they wrote.
   */
  async drain(immediate: boolean, { delayMs, timeoutMs, spoolMs }: DrainBounds): Promise<void> {
    this.loops.stop();
    for (const kept of [...this.administration, this.worker]) kept.letEnd();
    const withinMs = (immediate ? 0 : delayMs) + timeoutMs + EXIT_MARGIN_MS;
    await Promise.all(this.gateways.map((gateway) => gateway.close(immediate, withinMs)));
    await Promise.all(this.administration.map((kept) => kept.close(immediate, EXIT_MARGIN_MS)));
    await this.worker.close(immediate, this.hurried ? HURRY_MS : spoolMs + WORKER_MARGIN_MS);
  }

  /** Sets the log level of all processes, present and future. */
  logAt(level: LogLevel): void {
    this.logLevel = level;
    for (const kept of this.all) kept.tell({ type: 'log-level', level });
  }

  /** Shortens a running drain. */
  hurry(): void {
    this.hurried = true;
    for (const kept of this.all) kept.hurry(HURRY_MS);
  }

  private keep(name: string, spawn: KeptProcessOptions['spawn'], place = 0): KeptProcess {
    const { onLost } = this.plan;
    const onMessage: KeptProcessOptions['onMessage'] = (message, from) => {
      this.metrics.receive(message, from);
      this.loops.receive(message, from);
      if (message.type === 'loaded' && this.logLevel) from.tell({ type: 'log-level', level: this.logLevel });
    };
    return new KeptProcess({ name, place, spawn, onLost, onMessage });
  }
}

function forkProgram({ programs, environment }: FleetPlan, name: keyof FleetPlan['programs']) {
  const env = { ...process.env, ...environment };
  const child = fork(programs[name], [], { env, stdio: [...NO_STDIN] });
  if (child.pid !== undefined) setPriority(child.pid, BEHIND_THE_GATEWAYS);
  return child;
}
