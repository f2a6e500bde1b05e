import { collectDefaultMetrics, register } from 'prom-client';
import {
  isSupervisorMessage,
  type MetricJson,
  type MetricsForm,
  type SupervisorMessage,
} from '../processes/ipc.js';

/** How long to wait for the other processes before responding with this one's metrics alone. */
const MERGE_TIMEOUT_MS = 1_500;

type Metrics = string | readonly MetricJson[];

const waiting = new Map<number, (metrics: Metrics) => void>();
let lastId = 0;

/** Sums of other gauges, named like counters: https://prometheus.io/docs/practices/naming/#metric-names */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `gatehouse_nodejs_active_${what}_total`);

/** Starts the metrics that every process has. Call once per process. */
export function startMetrics(): void {
  collectDefaultMetrics({ prefix: 'gatehouse_' });
  for (const name of MISNAMED) register.removeSingleMetric(name);
  process.on('message', (message) => {
    if (isSupervisorMessage(message)) receive(message);
  });
}

/** The metrics of all processes of this instance, in Prometheus' text format. Without a supervisor, those of this process. */
export async function metricsText(): Promise<string> {
  const merged = await mergedMetrics('text');
  return typeof merged === 'string' ? merged : register.metrics();
}

/** The same metrics as objects. */
export async function metricsJson(): Promise<readonly MetricJson[]> {
  const merged = await mergedMetrics('json');
  return merged !== null && typeof merged === 'object' ? merged : ownMetrics();
}

/** Null without a supervisor, or if it does not respond in time. */
async function mergedMetrics(form: MetricsForm): Promise<Metrics | null> {
  if (!process.send) return null;
  const id = ++lastId;
  const merged = new Promise<Metrics | null>((resolve) => {
    waiting.set(id, resolve);
    setTimeout(resolve, MERGE_TIMEOUT_MS, null).unref();
  });
  process.send({ type: 'metrics:ask', id, form });
  const metrics = await merged;
  waiting.delete(id);
  return metrics;
}

export const METRICS_CONTENT_TYPE = register.contentType;

function receive(message: SupervisorMessage): void {
  if (message.type === 'metrics:merged') waiting.get(message.id)?.(message.metrics);
  if (message.type === 'metrics:collect') void give(message.id);
}

async function give(id: number): Promise<void> {
  process.send?.({ type: 'metrics:given', id, json: await ownMetrics() });
}

const ownMetrics = async (): Promise<readonly MetricJson[]> => await register.getMetricsAsJSON();
