import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import type { LogLevel } from '../settings/log-settings.js';

/**
 * Messages between the supervisor and its child processes over Node's IPC channel.
 *
 * A child is started while the database is still starting, so that it can load its code meanwhile. It sends `loaded` when it listens, and
 * reads its settings on `go`. In an outage `go` indicates it: the child serves from its snapshot, and receives `database` once the database
 * is available again with the schema of this release. A child sends `ready` once it serves (or works). On `drain` it finishes and exits;
 * `immediate` skips the delay for load balancers. A child that is asked for `/metrics` sends `metrics:ask`; the supervisor collects from
 * every child and returns the merged metrics. Every few seconds a child reports its stalled background loops, and the supervisor passes them
 * on to the others. A child logs at the level of the last `log-level`.
 */
export type ChildMessage =
  | { readonly type: 'loaded' }
  | { readonly type: 'ready' }
  | { readonly type: 'metrics:ask'; readonly id: number; readonly form: MetricsForm }
  | { readonly type: 'metrics:given'; readonly id: number; readonly json: readonly MetricJson[] }
  | LoopReport;

/** Sent even if no loop is stalled: a process that stops reporting is itself stalled. */
export interface LoopReport {
  readonly type: 'loops';
  readonly stalled: readonly StalledLoop[];
}

/** A background loop without a success for longer than its bound. */
export interface StalledLoop {
  readonly loop: string;
  /** The process it runs in; absent for the reporting process itself. */
  readonly process?: string;
  /** Seconds since its last success, or since its start. */
  readonly seconds: number;
}

export interface Go {
  readonly type: 'go';
  /** Index among the processes of its kind, from 0: a replacement has the same. */
  readonly place: number;
  /** Whether the database has the schema of this release is not known yet: do not use it before `database`. */
  readonly awaitsDatabase: boolean;
}

export type SupervisorMessage =
  | Go
  | { readonly type: 'database' }
  | { readonly type: 'drain'; readonly immediate: boolean }
  | LoopReport
  | { readonly type: 'log-level'; readonly level: LogLevel }
  | { readonly type: 'metrics:collect'; readonly id: number }
  | {
      readonly type: 'metrics:merged';
      readonly id: number;
      readonly metrics: string | readonly MetricJson[];
    };

/** Prometheus' text format, or the metrics as objects. */
export type MetricsForm = 'text' | 'json';

/** One metric in the format of prom-client's `Registry.getMetricsAsJSON()`. */
export type MetricJson = MetricObjectWithValues<MetricValue<string>>;

const CHILD_TYPES: ReadonlySet<string> = new Set<ChildMessage['type']>([
  'loaded',
  'ready',
  'metrics:ask',
  'metrics:given',
  'loops',
]);
const SUPERVISOR_TYPES: ReadonlySet<string> = new Set<SupervisorMessage['type']>([
  'go',
  'database',
  'drain',
  'log-level',
  'loops',
  'metrics:collect',
  'metrics:merged',
]);

/** The channel also carries messages of node:cluster and of libraries; those are not ours. */
export function isChildMessage(message: unknown): message is ChildMessage {
  return hasType(message, CHILD_TYPES);
}

export function isSupervisorMessage(message: unknown): message is SupervisorMessage {
  return hasType(message, SUPERVISOR_TYPES);
}

function hasType(message: unknown, types: ReadonlySet<string>): boolean {
  return (
    typeof message === 'object' &&
    message !== null &&
    'type' in message &&
    typeof message.type === 'string' &&
    types.has(message.type)
  );
}
