import { fork } from 'node:child_process';
import cluster from 'node:cluster';
import type { ChildMessage } from '../../common/processes/ipc.js';
import type { ChildEnvironment } from '../launch-plan.js';
import type { LauncherError } from '../launcher-error.js';
import { KeptProcess } from './kept-process.js';
import { MergedMetrics } from './merged-metrics.js';

export interface FleetPlan {
  /** Gateway processes; 0 when this instance only works in the background. */
  readonly gateways: number;
  /** Absolute paths of the programs. */
  readonly programs: { readonly gateway: string; readonly worker: string };
  readonly environment: ChildEnvironment;
  readonly onLost: (error: LauncherError) => void;
}

/** How long gateways may take to finish their streams, in milliseconds. */
export interface DrainBounds {
  readonly delayMs: number;
  readonly timeoutMs: number;
}

const NO_STDIN = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
/** Beyond the time that a process gives its streams: to flush what it holds and exit. */
const EXIT_MARGIN_MS = 5_000;
const WORKER_PATIENCE_MS = 20_000;
const HURRY_MS = 1_000;

/**
 * All processes of this instance: N gateways that share one port (node:cluster, connections dealt in turn) and one
 * background process.
 */
export class Fleet {
  readonly #metrics = new MergedMetrics(() => this.#all);
  readonly #gateways: readonly KeptProcess[];
  readonly #worker: KeptProcess;
  #hurried = false;

  constructor(private readonly plan: FleetPlan) {
    // Each process accepts from the shared socket itself. Dealt out by the supervisor, a connection whose process is killed
    // before it took it would hang for ever.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({
      exec: plan.programs.gateway,
      args: [],

      stdio: [...NO_STDIN],
    });
    this.#gateways = Array.from({ length: plan.gateways }, () =>
      this.#keep('gateway', () => cluster.fork(plan.environment).process),
    );
    this.#worker = this.#keep('worker', () => forkWorker(plan));
  }

  get #all(): readonly KeptProcess[] {
    return [...this.#gateways, this.#worker];
  }

  start(): void {
    for (const kept of this.#all) kept.start();
  }

  /** Says that the database is there: until then the processes only load their code. */
  release(): void {
    for (const kept of this.#all) kept.release();
  }

  /** Settles when every process was ready once. */
  async ready(): Promise<void> {
    await Promise.all(this.#all.map(({ ready }) => ready));
  }

  /** Ends all processes, the worker last: it takes along what the gateways wrote until their end. */
  async drain(immediate: boolean, { delayMs, timeoutMs }: DrainBounds): Promise<void> {
    this.#worker.letEnd();
    const withinMs = (immediate ? 0 : delayMs) + timeoutMs + EXIT_MARGIN_MS;
    await Promise.all(this.#gateways.map((gateway) => gateway.close(immediate, withinMs)));
    await this.#worker.close(immediate, this.#hurried ? HURRY_MS : WORKER_PATIENCE_MS);
  }

  /** Shortens a drain that is under way. */
  hurry(): void {
    this.#hurried = true;
    for (const kept of this.#all) kept.hurry(HURRY_MS);
  }

  #keep(name: string, spawn: Parameters<typeof newKept>[1]): KeptProcess {
    return newKept(name, spawn, this.plan.onLost, (message, from) => this.#metrics.hear(message, from));
  }
}

function newKept(
  name: string,
  spawn: ConstructorParameters<typeof KeptProcess>[0]['spawn'],
  onLost: FleetPlan['onLost'],
  onMessage: (message: ChildMessage, from: KeptProcess) => void,
): KeptProcess {
  return new KeptProcess({ name, spawn, onLost, onMessage });
}

function forkWorker({ programs, environment }: FleetPlan) {
  return fork(programs.worker, [], { env: { ...process.env, ...environment }, stdio: [...NO_STDIN] });
}
