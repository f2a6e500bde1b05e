import type { HrTime } from '@opentelemetry/api';
import type { MetricData, MetricProducer } from '@opentelemetry/sdk-metrics';
import { OTLP_TIMEOUTS } from '../common/net/store-timeouts.js';
import { metricsJson } from '../common/observability/metrics.js';
import type { Settings } from '../common/settings/settings.js';
import { operatorEgress } from '../egress/operator-egress.js';
import { telemetryResource, throughEgress } from './exporting.js';
import { hasFallen, metricsOf } from './registry-metrics.js';

const CONNECTIONS = 1;
const MS_PER_S = 1_000;
const NANOS_PER_MS = 1_000_000;

/** A running export of the metrics. */
export interface RegistryExport {
  /** Sends the last values, then stops. */
  end(): Promise<void>;
}

const NOTHING: RegistryExport = { end: () => Promise.resolve() };

/**
 * Sends what `/metrics` shows of this instance, all its processes together, to the collector. Call it in one process of an instance; not in
 * a gateway process, whose memory the packages would burden. Does nothing without a collector.
 */
export async function startRegistryExport(
  settings: Pick<Settings, 'telemetry' | 'egressAllow' | 'timeouts'>,
): Promise<RegistryExport> {
  const { metrics } = settings.telemetry;
  if (metrics === null) return NOTHING;
  const [{ OTLPMetricExporter }, sdk, { resource, instrumentationScope }] = await Promise.all([
    import('@opentelemetry/exporter-metrics-otlp-proto'),
    import('@opentelemetry/sdk-metrics'),
    telemetryResource(),
  ]);
  const way = throughEgress(operatorEgress(settings, metrics.url, CONNECTIONS));
  const exporter = new OTLPMetricExporter({
    url: metrics.url.href,
    timeoutMillis: OTLP_TIMEOUTS.commandMs,
    httpAgentOptions: way.agentFor as never,
  });
  /** Restarts with a process, whose counters then begin at 0 again. */
  let startTime = now();
  let last: readonly MetricData[] = [];
  let lastTime = startTime;
  const registry: MetricProducer = {
    collect: async () => {
      const json = await metricsJson();
      const endTime = now();
      const collected = metricsOf(json, { startTime, endTime }, sdk);
      if (hasFallen(last, collected)) startTime = lastTime;
      last = startTime === lastTime ? metricsOf(json, { startTime, endTime }, sdk) : collected;
      lastTime = endTime;
      const scopeMetrics = [{ scope: instrumentationScope, metrics: [...last] }];
      return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
    },
  };
  const reader = new sdk.PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: metrics.everyMs,
    exportTimeoutMillis: Math.min(metrics.everyMs, OTLP_TIMEOUTS.commandMs),
    metricProducers: [registry],
  });
  const provider = new sdk.MeterProvider({ resource, readers: [reader] });
  return {
    end: async () => {
      await provider.shutdown().catch(() => undefined);
      await way.close();
    },
  };
}

function now(): HrTime {
  const ms = Date.now();
  return [Math.floor(ms / MS_PER_S), (ms % MS_PER_S) * NANOS_PER_MS];
}
