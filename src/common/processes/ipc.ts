import type { MetricObjectWithValues, MetricValue } from 'prom-client';

/**
 * What the supervisor and its child processes tell each other over Node's IPC channel.
 *
 * A child is started while the database still is on its way, so that it loads its code meanwhile. It says `loaded`
 * when it listens, and reads its settings when the supervisor says `go`. In an outage that message says so, serves
 * what it knows, and receives `database` when that is available again and has the schema of this release. A child says `ready` once it serves (or works). The supervisor says `drain` when the child should finish and
 * exit by itself; `immediate` leaves out the delay in which a load balancer would notice. Whoever is asked for
 * `/metrics` sends `metrics:ask`; the supervisor collects from every child and answers with the merged text. Every few
 * seconds a child reports which of its background loops stand still; the supervisor tells the others.
 */
export type ChildMessage =
  | { readonly type: 'loaded' }
  | { readonly type: 'ready' }
  | { readonly type: 'metrics:ask'; readonly id: number }
  | { readonly type: 'metrics:given'; readonly id: number; readonly json: readonly MetricJson[] }
  | LoopReport;

/** Sent when none stand still as well: a process that stops reporting stands still itself. */
export interface LoopReport {
  readonly type: 'loops';
  readonly stalled: readonly StalledLoop[];
}

/** A background loop that has not succeeded for longer than its bound. */
export interface StalledLoop {
  readonly loop: string;
  /** The process that it is in; none: the one that tells. */
  readonly process?: string;
  /** Time since its last success, or since its start when there was none. */
  readonly seconds: number;
}

export interface Go {
  readonly type: 'go';
  /** Which one of the processes of its kind, from 0: the next in its place has the same. */
  readonly place: number;
  /** It is not known yet whether the database has the schema of this release: it must not be asked before `database` was said. */
  readonly awaitsDatabase: boolean;
}

export type SupervisorMessage =
  | Go
  | { readonly type: 'database' }
  | { readonly type: 'drain'; readonly immediate: boolean }
  | LoopReport
  | { readonly type: 'metrics:collect'; readonly id: number }
  | { readonly type: 'metrics:merged'; readonly id: number; readonly text: string };

/** One metric as prom-client's `Registry.getMetricsAsJSON()` gives it. */
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
