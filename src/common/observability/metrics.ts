import { collectDefaultMetrics, register } from 'prom-client';
import { isSupervisorMessage, type MetricJson, type SupervisorMessage } from '../processes/ipc.js';

/** How long to wait for the other processes before responding with this one's metrics alone. */
const MERGE_TIMEOUT_MS = 1_500;

const waiting = new Map<number, (text: string) => void>();
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
  if (!process.send) return register.metrics();
  const id = ++lastId;
  const merged = new Promise<string | null>((resolve) => {
    waiting.set(id, resolve);
    setTimeout(resolve, MERGE_TIMEOUT_MS, null).unref();
  });
  process.send({ type: 'metrics:ask', id });
  const text = await merged;
  waiting.delete(id);
  return text ?? register.metrics();
}

export const METRICS_CONTENT_TYPE = register.contentType;

function receive(message: SupervisorMessage): void {
  if (message.type === 'metrics:merged') waiting.get(message.id)?.(message.text);
  if (message.type === 'metrics:collect') void give(message.id);
}

async function give(id: number): Promise<void> {
  const json = (await register.getMetricsAsJSON()) as unknown as readonly MetricJson[];
  process.send?.({ type: 'metrics:given', id, json });
}
